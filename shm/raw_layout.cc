// SPDX-License-Identifier: Apache-2.0
#include "shm/raw_layout.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "shm/catalogue.h"
#include "shm/segment_layout_check.h"

namespace vitrine::shm {
namespace {

constexpr std::uint32_t kHotLinesId = static_cast<std::uint32_t>(SectionId::kHotLines);

// By what the entry says, or, in version 1.0, which did not say it, by the numbers: only rows under
// the protocol lie that far apart, and only rows and ring entries are records with a stamp.
SectionShape shape_of(const SectionEntry& entry) {
  const bool is_record = entry.record_bytes >= sizeof(Identity) && entry.record_bytes % 8 == 0;
  const bool are_rows = entry.stride_bytes >= kLineBytes + kSlots * slot_bytes(entry.record_bytes);
  const bool is_events = entry.id == static_cast<std::uint32_t>(SectionId::kEvents);
  switch (entry.kind) {
    case SectionKind::kBlock:
    case SectionKind::kText:
      return SectionShape::kPlainWords;
    case SectionKind::kRing:
      return is_record ? SectionShape::kRing : SectionShape::kPlainWords;
    case SectionKind::kTable:
    case SectionKind::kUnknown:
      break;
  }
  if (!is_record) return SectionShape::kPlainWords;
  if (are_rows && !is_events) return SectionShape::kTable;
  return entry.count > 1 ? SectionShape::kRing : SectionShape::kPlainWords;
}

std::optional<RawSection> section_of(const SectionEntry& entry, const FixedHeader& fixed) {
  RawSection section{entry.id,           shape_of(entry), entry.record_bytes,
                     entry.stride_bytes, entry.count,     entry.offset_bytes};
  // A text has any length; what follows it up to a whole word is nobody's.
  if (entry.kind == SectionKind::kText) section.stride_bytes = (entry.stride_bytes + 7) / 8 * 8;
  // Both factors have 32 bits, so neither the product nor the sum can wrap.
  std::uint64_t bytes = std::uint64_t{entry.count} * section.stride_bytes;
  if (section.shape == SectionShape::kRing) bytes += kLineBytes;
  const bool is_aligned = section.stride_bytes % 8 == 0 && entry.offset_bytes % 8 == 0;
  const bool is_inside = entry.offset_bytes >= fixed.header_bytes + sizeof(HotLines) &&
                         entry.offset_bytes <= fixed.total_bytes &&
                         bytes <= fixed.total_bytes - entry.offset_bytes;
  if (!is_inside || !is_aligned) return std::nullopt;
  if (section.shape == SectionShape::kRing && entry.stride_bytes < entry.record_bytes) {
    return std::nullopt;
  }
  return section;
}

// The hot lines have their place in the fixed header; their entry only says how many there are.
RawSection hot_lines_of(std::span<const SectionEntry> entries, const FixedHeader& fixed) {
  RawSection hot;
  hot.id = kHotLinesId;
  hot.count = 1;
  hot.offset_bytes = fixed.header_bytes;
  std::uint64_t bytes = sizeof(HotLines);
  std::uint64_t end = fixed.total_bytes;
  for (const SectionEntry& entry : entries) {
    if (entry.id == kHotLinesId) bytes = std::max<std::uint64_t>(bytes, entry.stride_bytes);
    if (entry.offset_bytes > fixed.header_bytes) end = std::min(end, entry.offset_bytes);
  }
  if (hot.offset_bytes + bytes > end || bytes % 8 != 0) bytes = sizeof(HotLines);
  hot.record_bytes = hot.stride_bytes = static_cast<std::uint32_t>(bytes);
  return hot;
}

}  // namespace

const RawSection* RawLayout::find(std::uint32_t id) const {
  const auto found = std::ranges::find(sections, id, &RawSection::id);
  return found == sections.end() ? nullptr : &*found;
}

Result<RawLayout> read_raw_layout(std::span<const std::byte> header_copy, std::uint64_t file_bytes,
                                  const std::string& name) {
  const Result<SegmentLayout> checked = check_layout(header_copy, file_bytes, name);
  if (!checked) return checked.error();
  RawLayout layout;
  layout.header = checked->header;
  const FixedHeader& fixed = layout.header.fixed;
  if (header_copy.size() < fixed.header_bytes) {
    return Error{ErrorKind::kCorrupt, name + ": too short for its own header"};
  }
  layout.header_bytes.assign(header_copy.begin(), header_copy.begin() + fixed.header_bytes);
  std::vector<SectionEntry> entries(layout.header.section_count);
  if (!entries.empty()) {
    std::memcpy(entries.data(), header_copy.data() + kSectionTableOffset,
                entries.size() * sizeof(SectionEntry));
  }
  layout.sections.push_back(hot_lines_of(entries, fixed));
  // Sections that overlap may ask for many times the segment's size.
  std::uint64_t room_bytes = fixed.total_bytes - sizeof(HotLines);
  for (const SectionEntry& entry : entries) {
    const auto section = section_of(entry, fixed);
    if (!section || layout.find(entry.id) != nullptr) continue;
    const std::uint64_t bytes = section->copy_words() * 8;
    if (bytes > room_bytes) continue;
    room_bytes -= bytes;
    layout.sections.push_back(*section);
  }
  return layout;
}

}  // namespace vitrine::shm
