// SPDX-License-Identifier: Apache-2.0
#include "shm/frame_player.h"

#include <algorithm>
#include <cstring>

#include "shm/protocol.h"

namespace vitrine::shm {
namespace {

constexpr std::size_t kFrameHeaderWords = sizeof(FrameHeader) / 8;
constexpr std::size_t kPartHeaderWords = sizeof(PartHeader) / 8;

// Calls each(part, words) for every part; false when the parts do not fill the payload exactly, or
// as soon as a call says so.
template <class Each>
bool for_each_part(std::span<const std::uint64_t> payload, Each&& each) {
  auto rest = payload.subspan(kFrameHeaderWords);
  while (!rest.empty()) {
    PartHeader part;
    if (rest.size() < kPartHeaderWords) return false;
    std::memcpy(&part, rest.data(), sizeof(part));
    rest = rest.subspan(kPartHeaderWords);
    if (part.words > rest.size()) return false;
    if (!each(part, rest.first(part.words))) return false;
    rest = rest.subspan(part.words);
  }
  return true;
}

bool is_known_shape(std::uint32_t shape) {
  return shape >= static_cast<std::uint32_t>(SectionShape::kPlainWords) &&
         shape <= static_cast<std::uint32_t>(SectionShape::kRing);
}

// Words that the player's caller stores itself.
bool is_clock_word(std::uint64_t word) {
  constexpr std::uint64_t kHeartbeatWord = offsetof(HotLines, heartbeat) / 8;
  constexpr std::uint64_t kClockEnd = sizeof(HotLines) / 8;
  return word >= kHeartbeatWord && word < kClockEnd;
}

}  // namespace

FramePlayer::FramePlayer(const RawLayout& layout, std::byte* segment, Clock clock)
    : layout_(layout), segment_(segment), clock_(clock), used_(layout.sections.size()) {}

std::uint64_t* FramePlayer::words_at(std::uint64_t offset_bytes) const {
  return reinterpret_cast<std::uint64_t*>(segment_ + offset_bytes);
}

std::size_t FramePlayer::index_of(std::uint32_t section) const {
  const RawSection* found = layout_.find(section);
  return found == nullptr ? layout_.sections.size()
                          : static_cast<std::size_t>(found - layout_.sections.data());
}

const char* FramePlayer::fault_of(const PartHeader& part, Words words) const {
  if (!is_known_shape(part.shape)) return nullptr;
  const std::size_t index = index_of(part.section);
  if (index == layout_.sections.size()) return "a part is of no section";
  const RawSection& section = layout_.sections[index];
  if (static_cast<std::uint32_t>(section.shape) != part.shape) return "a part has another shape";
  FrameHeader header;
  std::memcpy(&header, &header_, sizeof(header));
  switch (section.shape) {
    case SectionShape::kPlainWords:
      if (part.count != part.words || part.first > section.copy_words() ||
          part.count > section.copy_words() - part.first) {
        return "plain words lie outside their section";
      }
      return nullptr;
    case SectionShape::kTable:
      if (part.first >= section.count || part.words != section.record_words()) {
        return "a row lies outside its table";
      }
      return words[0] > header.commit || words[0] == 0 ? "a row is of another commit" : nullptr;
    case SectionShape::kRing:
      break;
  }
  if (part.count > section.count || part.words != part.count * section.record_words()) {
    return "entries do not fit their ring";
  }
  if (part.first <= used_[index] || part.first + part.count < part.first) {
    return "entries are out of their order";
  }
  for (std::uint32_t i = 0; i < part.count; ++i) {
    const Words entry = words.subspan(i * section.record_words());
    if (entry[0] > header.commit || entry[1] != part.first + i) return "an entry is not its own";
  }
  return nullptr;
}

const char* FramePlayer::fault_of(Words payload) const {
  const char* fault = nullptr;
  std::vector<std::uint8_t> has_entries(layout_.sections.size(), 0);
  const bool is_whole = for_each_part(payload, [&](const PartHeader& part, Words words) {
    fault = fault_of(part, words);
    const std::size_t index = index_of(part.section);
    if (fault == nullptr && part.shape == static_cast<std::uint32_t>(SectionShape::kRing) &&
        has_entries[index]++ != 0) {
      fault = "a ring is there twice";
    }
    return fault == nullptr;
  });
  if (fault == nullptr && !is_whole) fault = "its parts do not fill it";
  return fault;
}

Result<void> FramePlayer::play(Words payload) {
  const auto corrupt = [](const char* rule) { return Error{ErrorKind::kCorrupt, rule}; };
  if (payload.size() < kFrameHeaderWords) return corrupt("a frame is too short");
  const FrameHeader before = header_;
  std::memcpy(&header_, payload.data(), sizeof(header_));
  const char* fault = header_.commit < before.commit ? "commits go backwards" : fault_of(payload);
  if (fault != nullptr) {
    header_ = before;
    return corrupt(fault);
  }
  for_each_part(payload, [&](const PartHeader& part, Words words) {
    if (is_known_shape(part.shape)) store(part, words);
    return true;
  });
  const std::uint64_t hot_offset = layout_.header.fixed.header_bytes;
  store_commit<MappedMemory>(*words_at(hot_offset + offsetof(HotLines, commit.commit)),
                             header_.commit);
  return {};
}

void FramePlayer::store(const PartHeader& part, Words words) {
  const std::size_t index = index_of(part.section);
  const RawSection& section = layout_.sections[index];
  switch (section.shape) {
    case SectionShape::kPlainWords:
      return store_plain(section, part, words);
    case SectionShape::kTable: {
      // Told before the row's head, as TableWriter does.
      used_[index] = std::max(used_[index], part.first + 1);
      MappedMemory::store(words_at(section.offset_bytes)[1], used_[index],
                          std::memory_order_relaxed);
      return store_row(section, part, words);
    }
    case SectionShape::kRing:
      return store_entries(index, part, words);
  }
}

void FramePlayer::store_plain(const RawSection& section, const PartHeader& part, Words words) {
  constexpr std::uint64_t kCommitWord = offsetof(HotLines, commit.commit) / 8;
  const bool is_hot = &section == layout_.sections.data();
  std::uint64_t* to = words_at(section.offset_bytes);
  for (std::uint64_t i = 0; i < words.size(); ++i) {
    const std::uint64_t word = part.first + i;
    if (is_hot && word == kCommitWord) continue;
    if (is_hot && clock_ == Clock::kCallers && is_clock_word(word)) continue;
    MappedMemory::store(to[word], words[i], std::memory_order_release);
  }
}

void FramePlayer::store_row(const RawSection& section, const PartHeader& part, Words words) {
  const std::uint64_t offset = section.offset_bytes + part.first * section.stride_bytes;
  publish<MappedMemory>(
      {words_at(offset), words_at(offset + kLineBytes), slot_bytes(section.record_bytes) / 8},
      words);
}

// An entry that was missed keeps its place, so that followers stay in step.
void FramePlayer::store_entries(std::size_t section_index, const PartHeader& part, Words words) {
  const RawSection& section = layout_.sections[section_index];
  const std::uint64_t last = part.first + part.count - 1;
  const std::uint64_t kept_from = last >= section.count ? last - section.count + 1 : 1;
  missed_ += part.first - used_[section_index] - 1;
  std::uint64_t& head = *words_at(section.offset_bytes);
  const std::uint64_t begin = std::max(used_[section_index] + 1, kept_from);
  for (std::uint64_t sequence = begin; sequence <= last; ++sequence) {
    const std::uint64_t slot = (sequence - 1) % section.count;
    std::uint64_t* to = words_at(section.offset_bytes + kLineBytes + slot * section.stride_bytes);
    MappedMemory::fence(std::memory_order_release);  // pairs with the reader's second look at head
    for (std::size_t i = 0; i < section.record_words(); ++i) {
      std::uint64_t word = i == 0 ? header_.commit : i == 1 ? sequence : 0;
      if (sequence >= part.first) {
        word = words[(sequence - part.first) * section.record_words() + i];
      }
      MappedMemory::store(to[i], word, MappedMemory::kWordStore);
    }
    MappedMemory::store(head, sequence, std::memory_order_release);
  }
  used_[section_index] = last;
}

}  // namespace vitrine::shm
