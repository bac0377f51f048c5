// SPDX-License-Identifier: Apache-2.0
// The one place where a segment's header is believed: every number that a reader computes an
// address from is checked here, once, on a private copy.
//
// Why   a segment is hostile input; after this check a reader may use its places without looking
//       again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "shm/catalogue.h"
#include "shm/error.h"
#include "shm/layout.h"

namespace vitrine::shm {

// Bytes of header and table of sections, to be copied before the check.
inline constexpr std::size_t kCheckedHeaderBytes = kHotLinesOffset;

// Where one section lies; all zero when the segment has none.
struct SectionPlace {
  SectionKind kind{};
  std::size_t offset_bytes = 0;
  std::size_t stride_bytes = 0;
  std::uint32_t record_bytes = 0;
  std::uint32_t count = 0;
};

struct SegmentLayout {
  Header header;
  std::size_t hot_lines_offset = 0;
  std::array<SectionPlace, kSectionCapacity> sections;  // by SectionId

  const SectionPlace& place(SectionId id) const { return sections[static_cast<std::size_t>(id)]; }
};

// Checks a copy of the first bytes of a segment whose file has `file_bytes`. `name` goes into the
// errors. Errors: kUnsupported (byte order, major version, required feature), kCorrupt.
Result<SegmentLayout> check_layout(std::span<const std::byte> header_copy, std::uint64_t file_bytes,
                                   const std::string& name);

}  // namespace vitrine::shm
