// SPDX-License-Identifier: Apache-2.0
// Where everything of a segment lies, also sections that this program does not know: what is
// needed to copy a segment without knowing what its records mean.
//
// Layout   a section has one of three shapes: rows under the protocol, a ring of entries that
//          begin with stamp and sequence, or plain words.
// Why      recordings keep what a newer engine publishes, so the copy goes by the table of
//          sections and never by our structs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shm/error.h"
#include "shm/layout.h"

namespace vitrine::shm {

enum class SectionShape : std::uint32_t { kPlainWords = 1, kTable = 2, kRing = 3 };

struct RawSection {
  std::uint32_t id = 0;
  SectionShape shape = SectionShape::kPlainWords;
  std::uint32_t record_bytes = 0;
  std::uint32_t stride_bytes = 0;
  std::uint32_t count = 0;
  std::uint64_t offset_bytes = 0;

  std::size_t record_words() const { return record_bytes / 8; }
  // Words that a copy of the whole section takes.
  std::size_t copy_words() const {
    return shape == SectionShape::kPlainWords ? std::size_t{stride_bytes} * count / 8
                                              : record_words() * count;
  }
  friend bool operator==(const RawSection&, const RawSection&) = default;
};

struct RawLayout {
  Header header;
  std::vector<std::byte> header_bytes;  // all before the hot lines
  std::vector<RawSection> sections;     // the hot lines first

  std::size_t total_bytes() const { return header.fixed.total_bytes; }
  const RawSection* find(std::uint32_t id) const;
};

// Checks a copy of the first bytes of a segment of `file_bytes`, as check_layout() does, and takes
// also the sections that check_layout() passes over, by their shape; one of an impossible shape is
// left out. `header_copy` has all bytes before the hot lines, or as many as there are.
Result<RawLayout> read_raw_layout(std::span<const std::byte> header_copy, std::uint64_t file_bytes,
                                  const std::string& name);

}  // namespace vitrine::shm
