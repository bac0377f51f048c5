// SPDX-License-Identifier: Apache-2.0
#include "shm/raw_copy.h"

#include <algorithm>

#include "shm/bus_error_guard.h"
#include "shm/protocol.h"

namespace vitrine::shm {
namespace {

const std::uint64_t* words_at(std::span<const std::byte> segment, std::uint64_t offset_bytes) {
  return reinterpret_cast<const std::uint64_t*>(segment.data() + offset_bytes);
}

}  // namespace

RawCopy::RawCopy(const RawLayout& layout, std::span<const std::byte> segment)
    : layout_(layout), segment_(segment), ring_reached_(layout.sections.size()) {
  for (const RawSection& section : layout_.sections) {
    frame_.sections.emplace_back().words.resize(section.copy_words());
  }
}

void RawCopy::copy_plain(const RawSection& section, RawContent& out) const noexcept {
  const std::uint64_t* from = words_at(segment_, section.offset_bytes);
  for (std::size_t i = 0; i < out.words.size(); ++i) {
    out.words[i] = MappedMemory::load(from[i], std::memory_order_acquire);
  }
  out.count = out.words.size();
}

bool RawCopy::copy_table(const RawSection& section, RawContent& out) const noexcept {
  out.count = 0;
  if (section.count == 0) return true;
  const std::uint64_t told =
      MappedMemory::load(words_at(segment_, section.offset_bytes)[1], std::memory_order_relaxed);
  const std::uint64_t end = told == 0 || told > section.count ? section.count : told;
  for (std::uint64_t row = 0; row < end; ++row) {
    const std::uint64_t offset = section.offset_bytes + row * section.stride_bytes;
    const std::span payload =
        std::span(out.words).subspan(row * section.record_words(), section.record_words());
    const ReadOutcome outcome =
        read_at<MappedMemory>({words_at(segment_, offset), words_at(segment_, offset + kLineBytes),
                               slot_bytes(section.record_bytes) / 8},
                              frame_.commit, payload);
    if (outcome == ReadOutcome::kBusy) return false;
    if (outcome == ReadOutcome::kAbsent) payload[0] = 0;
  }
  out.count = end;
  return true;
}

// The rules are those of EventRing: with `head` entries appended the writer may already be
// overwriting the oldest, and what it reached during the copy is dropped.
void RawCopy::copy_ring(const RawSection& section, std::uint64_t after, RawContent& out) noexcept {
  const auto oldest_at = [&](std::uint64_t head) {
    return head >= section.count ? head - section.count + 2 : std::uint64_t{1};
  };
  const std::uint64_t& head_word = *words_at(segment_, section.offset_bytes);
  const std::uint64_t head = MappedMemory::load(head_word, std::memory_order_acquire);
  out.first = after + 1;
  out.count = out.missed = 0;
  if (head <= after) return;
  const std::uint64_t begin = std::max(after + 1, oldest_at(head));
  const std::size_t entry_words = section.record_words();
  std::uint64_t copied = 0;
  for (; copied < section.count && begin + copied <= head; ++copied) {
    const std::uint64_t slot = (begin + copied - 1) % section.count;
    const std::uint64_t* from =
        words_at(segment_, section.offset_bytes + kLineBytes + slot * section.stride_bytes);
    for (std::size_t i = 0; i < entry_words; ++i) {
      out.words[copied * entry_words + i] = MappedMemory::load(from[i], MappedMemory::kWordLoad);
    }
  }
  MappedMemory::fence(std::memory_order_acquire);
  const std::uint64_t oldest = oldest_at(MappedMemory::load(head_word, std::memory_order_relaxed));
  const std::uint64_t skipped = oldest > begin ? std::min(oldest - begin, copied) : 0;
  std::uint64_t good = skipped;
  while (good < copied && out.words[good * entry_words] <= frame_.commit) {
    is_damaged_ |= out.words[good * entry_words + 1] != begin + good;
    ++good;
  }
  out.first = begin + skipped;
  out.count = good - skipped;
  out.missed = out.count == 0 ? 0 : out.first - (after + 1);
  std::copy(out.words.begin() + static_cast<std::ptrdiff_t>(skipped * entry_words),
            out.words.begin() + static_cast<std::ptrdiff_t>(good * entry_words), out.words.begin());
}

bool RawCopy::copy_tables() noexcept {
  for (std::size_t i = 0; i < layout_.sections.size(); ++i) {
    const RawSection& section = layout_.sections[i];
    if (section.shape != SectionShape::kTable) continue;
    if (!copy_table(section, frame_.sections[i])) return false;
  }
  return true;
}

void RawCopy::copy_rings() noexcept {
  for (std::size_t i = 0; i < layout_.sections.size(); ++i) {
    const RawSection& section = layout_.sections[i];
    RawContent& content = frame_.sections[i];
    if (section.shape == SectionShape::kRing) copy_ring(section, ring_reached_[i], content);
    if (section.shape == SectionShape::kPlainWords) copy_plain(section, content);
  }
}

// Runs under the guard, so it allocates nothing.
void RawCopy::walk() noexcept {
  const std::uint64_t& commit =
      *words_at(segment_, layout_.header.fixed.header_bytes + offsetof(HotLines, commit.commit));
  is_whole_ = is_damaged_ = false;
  for (int i = 0; i < kTriesMax && !is_whole_; ++i) {
    frame_.commit = load_commit<MappedMemory>(commit);
    is_whole_ = copy_tables();
  }
  if (is_whole_) copy_rings();
}

RawCopy::Outcome RawCopy::run() {
  if (!guarded(segment_, [this] { walk(); }) || is_damaged_) return Outcome::kDamaged;
  if (!is_whole_) return Outcome::kBusy;
  for (std::size_t i = 0; i < layout_.sections.size(); ++i) {
    const RawContent& content = frame_.sections[i];
    const bool has_new = layout_.sections[i].shape == SectionShape::kRing && content.count > 0;
    if (has_new) ring_reached_[i] = content.first + content.count - 1;
  }
  return Outcome::kDone;
}

double RawCopy::fullest_ring() const {
  double fullest = 0;
  const auto look = [&] {
    for (std::size_t i = 0; i < layout_.sections.size(); ++i) {
      const RawSection& section = layout_.sections[i];
      if (section.shape != SectionShape::kRing) continue;
      const std::uint64_t head =
          MappedMemory::load(*words_at(segment_, section.offset_bytes), std::memory_order_relaxed);
      if (head <= ring_reached_[i]) continue;
      fullest = std::max(fullest, static_cast<double>(head - ring_reached_[i]) / section.count);
    }
  };
  return guarded(segment_, look) ? fullest : 0;
}

}  // namespace vitrine::shm
