// SPDX-License-Identifier: Apache-2.0
#include "shm/recording_encoder.h"

#include <algorithm>
#include <cstring>

namespace vitrine::shm {

void RecordingEncoder::put(const void* bytes, std::size_t count) {
  const auto* from = static_cast<const std::byte*>(bytes);
  bytes_.insert(bytes_.end(), from, from + count);
}

void RecordingEncoder::open_chunk(ChunkKind kind) {
  chunk_begin_ = bytes_.size();
  const ChunkHeader header{static_cast<std::uint32_t>(kind), 0, 0, 0};
  put(&header, sizeof(header));
}

std::span<const std::byte> RecordingEncoder::close_chunk() {
  bytes_.resize((bytes_.size() + 7) / 8 * 8);
  ChunkHeader header;
  std::memcpy(&header, bytes_.data() + chunk_begin_, sizeof(header));
  const std::size_t payload_begin = chunk_begin_ + sizeof(header);
  header.payload_bytes = static_cast<std::uint32_t>(bytes_.size() - payload_begin);
  header.checksum = checksum_of(header, bytes_.data() + payload_begin);
  std::memcpy(bytes_.data() + chunk_begin_, &header, sizeof(header));
  return bytes_;
}

std::span<const std::byte> RecordingEncoder::begin() {
  bytes_.clear();
  const RecordingFileHeader header{kRecordingMagic, kByteOrder, kRecordingMajor, kRecordingMinor};
  put(&header, sizeof(header));
  open_chunk(ChunkKind::kSegment);
  put(layout_.header_bytes.data(), layout_.header_bytes.size());
  return close_chunk();
}

std::span<const std::byte> RecordingEncoder::end() {
  bytes_.clear();
  open_chunk(ChunkKind::kEnd);
  return close_chunk();
}

void RecordingEncoder::put_part(const PartHeader& part, const std::uint64_t* words) {
  put(&part, sizeof(part));
  put(words, std::size_t{part.words} * 8);
}

// From the first word that changed to the last.
void RecordingEncoder::put_plain(const RawSection& section, const RawContent& now,
                                 RawContent& before) {
  std::size_t end = now.words.size();
  std::size_t first = 0;
  while (first < end && now.words[first] == before.words[first]) ++first;
  while (end > first && now.words[end - 1] == before.words[end - 1]) --end;
  if (first == end) return;
  const auto count = static_cast<std::uint32_t>(end - first);
  const auto shape = static_cast<std::uint32_t>(SectionShape::kPlainWords);
  put_part({shape, section.id, first, count, count}, now.words.data() + first);
  before.words = now.words;
}

void RecordingEncoder::put_rows(const RawSection& section, const RawContent& now,
                                RawContent& before) {
  const std::size_t words = section.record_words();
  for (std::uint64_t row = 0; row < now.count; ++row) {
    const std::uint64_t* from = now.words.data() + row * words;
    std::uint64_t* old = before.words.data() + row * words;
    if (from[0] == 0 || std::equal(from, from + words, old)) continue;
    std::copy(from, from + words, old);
    put_part({static_cast<std::uint32_t>(SectionShape::kTable), section.id, row, 1,
              static_cast<std::uint32_t>(words)},
             from);
  }
}

std::span<const std::byte> RecordingEncoder::frame(const RawFrame& frame, FrameHeader header) {
  if (before_.empty()) {
    for (const RawSection& section : layout_.sections) {
      const bool is_compared = section.shape != SectionShape::kRing;
      before_.emplace_back().words.resize(is_compared ? section.copy_words() : 0);
    }
  }
  bytes_.clear();
  open_chunk(ChunkKind::kFrame);
  header.commit = frame.commit;
  put(&header, sizeof(header));
  for (std::size_t i = 0; i < layout_.sections.size(); ++i) {
    const RawSection& section = layout_.sections[i];
    const RawContent& now = frame.sections[i];
    if (section.shape == SectionShape::kPlainWords) put_plain(section, now, before_[i]);
    if (section.shape == SectionShape::kTable) put_rows(section, now, before_[i]);
    if (section.shape == SectionShape::kRing && now.count > 0) {
      const auto count = static_cast<std::uint32_t>(now.count);
      put_part({static_cast<std::uint32_t>(SectionShape::kRing), section.id, now.first, count,
                static_cast<std::uint32_t>(count * section.record_words())},
               now.words.data());
    }
  }
  return close_chunk();
}

}  // namespace vitrine::shm
