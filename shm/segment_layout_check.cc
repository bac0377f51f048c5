// SPDX-License-Identifier: Apache-2.0
#include "shm/segment_layout_check.h"

#include <bit>
#include <cstring>

namespace vitrine::shm {
namespace {

// Rows of one table and events of the ring that a reader is willing to make room for.
constexpr std::uint32_t kRowsMax = 1U << 16;
constexpr std::uint32_t kEventsMax = 1U << 22;
constexpr std::uint32_t kRecordBytesMax = 1U << 14;

class LayoutCheck {
 public:
  LayoutCheck(std::span<const std::byte> header, std::uint64_t file_bytes, const std::string& name)
      : header_(header), file_bytes_(file_bytes), name_(name) {}

  Result<SegmentLayout> run();

 private:
  Error corrupt(const std::string& rule) const {
    return {ErrorKind::kCorrupt, name_ + ": " + rule};
  }
  Error unsupported(const std::string& rule) const {
    return {ErrorKind::kUnsupported, name_ + ": " + rule};
  }

  Result<void> check_fixed_header();
  Result<void> check_version() const;
  Result<void> check_section(const SectionEntry& entry);
  Result<void> check_shape(const SectionEntry& entry, SectionKind kind) const;
  Result<void> check_constant(const SectionEntry& entry) const;
  Result<void> check_table(const SectionEntry& entry) const;
  Result<void> check_ring(const SectionEntry& entry) const;
  Result<void> check_overlap(const SectionEntry& entry, std::uint64_t end_bytes);

  std::span<const std::byte> header_;
  std::uint64_t file_bytes_;
  const std::string& name_;
  SegmentLayout layout_;
  struct Extent {
    std::uint32_t id;
    std::uint64_t begin_bytes;
    std::uint64_t end_bytes;
  };
  std::array<Extent, kSectionCapacity> extents_;  // of the sections that passed
  std::size_t extent_count_ = 0;
};

// What the section must be for this program, when it knows the id; else what its entry says.
SectionKind kind_of(const SectionEntry& entry) {
  switch (static_cast<SectionId>(entry.id)) {
    case SectionId::kEvents:
    case SectionId::kHistory:
      return SectionKind::kRing;
    case SectionId::kSchema:
      return SectionKind::kText;
    case SectionId::kLastWords:
      return SectionKind::kBlock;
    default:
      break;
  }
  SectionKind kind = entry.kind;
  for_each_table([&]<class Record>() {
    if (static_cast<SectionId>(entry.id) == TableOf<Record>::kSection) kind = SectionKind::kTable;
  });
  return kind;
}

std::string section_text(const SectionEntry& entry) {
  return "section " + std::to_string(entry.id);
}

Result<void> LayoutCheck::check_version() const {
  const FixedHeader& fixed = layout_.header.fixed;
  if (fixed.major != kMajorVersion) {
    const bool engine_is_older = fixed.major < kMajorVersion;
    return unsupported("segment version " + std::to_string(fixed.major) + "." +
                       std::to_string(fixed.minor) + ", this program reads version " +
                       std::to_string(kMajorVersion) + "; the " +
                       (engine_is_older ? "engine" : "program") + " is older: upgrade it");
  }
  if (fixed.required_features != 0) {
    return unsupported("needs feature bits " + std::to_string(fixed.required_features) +
                       " that this program does not know; the program is older: upgrade it");
  }
  return {};
}

Result<void> LayoutCheck::check_fixed_header() {
  if (header_.size() < sizeof(FixedHeader) || file_bytes_ < sizeof(FixedHeader)) {
    return corrupt("too short for a segment");
  }
  std::memcpy(&layout_.header, header_.data(), std::min(header_.size(), sizeof(Header)));
  const FixedHeader& fixed = layout_.header.fixed;
  if (fixed.magic != kMagic) return corrupt("is not a segment: no magic number");
  if (fixed.byte_order == __builtin_bswap32(kByteOrder)) {
    const std::string other = std::endian::native == std::endian::little ? "big" : "little";
    return unsupported("written in " + other +
                       "-endian byte order; read it on a machine of that order");
  }
  if (fixed.byte_order != kByteOrder) return corrupt("the byte order mark is damaged");
  if (auto version = check_version(); !version) return version;
  if (header_.size() < kCheckedHeaderBytes) return corrupt("too short for a segment's header");
  if (fixed.total_bytes > file_bytes_) {
    return corrupt("is " + std::to_string(file_bytes_) + " bytes long but says " +
                   std::to_string(fixed.total_bytes));
  }
  if (fixed.total_bytes > kSegmentBytesMax) return corrupt("is larger than a segment may be");
  if (fixed.total_bytes < kCheckedHeaderBytes + sizeof(HotLines)) {
    return corrupt("says a size that does not hold its own header");
  }
  if (layout_.header.section_count > kSectionCapacity) return corrupt("has too many sections");
  const std::size_t sections_end =
      kSectionTableOffset + layout_.header.section_count * sizeof(SectionEntry);
  if (fixed.header_bytes < sections_end || fixed.header_bytes % kLineBytes != 0 ||
      fixed.header_bytes > fixed.total_bytes - sizeof(HotLines)) {
    return corrupt("the hot lines begin at an impossible place");
  }
  layout_.hot_lines_offset = fixed.header_bytes;
  return {};
}

Result<void> LayoutCheck::check_table(const SectionEntry& entry) const {
  if (entry.count > kRowsMax) return corrupt(section_text(entry) + " has too many rows");
  if (entry.record_bytes < sizeof(Identity)) {
    return corrupt(section_text(entry) + " has records too short for an identity");
  }
  if (entry.stride_bytes < kLineBytes + kSlots * slot_bytes(entry.record_bytes)) {
    return corrupt(section_text(entry) + " has rows that overlap");
  }
  return {};
}

Result<void> LayoutCheck::check_ring(const SectionEntry& entry) const {
  if (entry.count > kEventsMax) return corrupt(section_text(entry) + " is too long a ring");
  if (entry.record_bytes < sizeof(Identity)) {
    return corrupt(section_text(entry) + " has entries too short for a stamp and a sequence");
  }
  if (entry.stride_bytes < entry.record_bytes) {
    return corrupt(section_text(entry) + " has entries that overlap");
  }
  return {};
}

// Two sections in one place would show the rows of one as rows of the other.
Result<void> LayoutCheck::check_overlap(const SectionEntry& entry, std::uint64_t end_bytes) {
  for (const Extent& other : std::span(extents_).first(extent_count_)) {
    if (entry.offset_bytes < other.end_bytes && other.begin_bytes < end_bytes) {
      return corrupt(section_text(entry) + " overlaps section " + std::to_string(other.id));
    }
  }
  extents_[extent_count_++] = {entry.id, entry.offset_bytes, end_bytes};
  return {};
}

// Of a block and a text.
Result<void> LayoutCheck::check_constant(const SectionEntry& entry) const {
  if (entry.count != 1) return corrupt(section_text(entry) + " is there more than once");
  if (entry.stride_bytes < entry.record_bytes) {
    return corrupt(section_text(entry) + " is longer than its place");
  }
  return {};
}

Result<void> LayoutCheck::check_shape(const SectionEntry& entry, SectionKind kind) const {
  if (kind == SectionKind::kText) return check_constant(entry);
  if (entry.record_bytes % 8 != 0 || entry.stride_bytes % 8 != 0) {
    return corrupt(section_text(entry) + " is not aligned to words");
  }
  if (entry.record_bytes > kRecordBytesMax) {
    return corrupt(section_text(entry) + " has records that are too long");
  }
  if (kind == SectionKind::kBlock) return check_constant(entry);
  return kind == SectionKind::kRing ? check_ring(entry) : check_table(entry);
}

Result<void> LayoutCheck::check_section(const SectionEntry& entry) {
  const std::uint64_t total_bytes = layout_.header.fixed.total_bytes;
  if (entry.id == 0) return corrupt("a section has no id");
  // The hot lines have their place in the fixed header. What a newer minor version calls by an id
  // that we have no room for, or makes of something else, is left alone.
  const SectionKind kind = kind_of(entry);
  if (entry.id == static_cast<std::uint32_t>(SectionId::kHotLines) ||
      entry.id >= kSectionCapacity || kind == SectionKind::kUnknown || kind > SectionKind::kText) {
    return {};
  }
  SectionPlace& place = layout_.sections[entry.id];
  if (place.offset_bytes != 0) return corrupt(section_text(entry) + " is there twice");
  if (entry.offset_bytes % 8 != 0) {
    return corrupt(section_text(entry) + " is not aligned to words");
  }
  if (auto shape = check_shape(entry, kind); !shape) return shape;
  // Both factors have 32 bits, so neither the product nor the sum below can wrap.
  const std::uint64_t bytes = std::uint64_t{entry.count} * entry.stride_bytes +
                              (kind == SectionKind::kRing ? kLineBytes : 0);
  if (entry.offset_bytes < layout_.hot_lines_offset + sizeof(HotLines)) {
    return corrupt(section_text(entry) + " begins inside the header");
  }
  if (entry.offset_bytes > total_bytes || bytes > total_bytes - entry.offset_bytes) {
    return corrupt(section_text(entry) + " reaches past the end");
  }
  if (auto alone = check_overlap(entry, entry.offset_bytes + bytes); !alone) return alone;
  place = {kind, entry.offset_bytes, entry.stride_bytes, entry.record_bytes, entry.count};
  return {};
}

Result<SegmentLayout> LayoutCheck::run() {
  if (auto fixed = check_fixed_header(); !fixed) return fixed.error();
  for (std::uint32_t i = 0; i < layout_.header.section_count; ++i) {
    SectionEntry entry;
    std::memcpy(&entry, header_.data() + kSectionTableOffset + i * sizeof(entry), sizeof(entry));
    if (auto section = check_section(entry); !section) return section.error();
  }
  return layout_;
}

}  // namespace

Result<SegmentLayout> check_layout(std::span<const std::byte> header_copy, std::uint64_t file_bytes,
                                   const std::string& name) {
  return LayoutCheck(header_copy, file_bytes, name).run();
}

}  // namespace vitrine::shm
