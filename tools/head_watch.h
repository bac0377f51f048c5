// SPDX-License-Identifier: Apache-2.0
// HeadWatch: the counts of publishes of all rows of a live segment, which may only grow.
//
// Reader   maps the segment once more, read-only and behind the guard against lost pages; one load
//          a row.
#pragma once

#include <boost/interprocess/mapped_region.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shm/segment_access.h"
#include "shm/segment_layout_check.h"

namespace vitrine::tools {

class HeadWatch {
 public:
  // False when the segment cannot be mapped.
  bool attach(const std::filesystem::path& path, const shm::AttachOptions& options);

  // The header and table of sections, as they are now; empty when not attached.
  std::vector<std::byte> header_bytes() const;
  const shm::SegmentLayout& layout() const { return layout_; }

  // Loads every head; says which was the first that fell, if any did.
  std::optional<std::string> look();
  // Says which row or ring has a newest stamp that no open transaction explains, if one has: more
  // than one above the commit, or above a commit that has stood for a second.
  std::optional<std::string> find_stamp_ahead();
  std::uint64_t rows() const { return heads_.size(); }

 private:
  // Where heads are, and of what the newest stamp is to be looked for.
  struct HeadPlace {
    std::size_t offset_bytes;
    shm::SectionPlace section;
  };
  std::uint64_t word_at(std::size_t offset_bytes) const;
  std::size_t newest_offset(const HeadPlace& place, std::uint64_t head) const;

  shm::SegmentLayout layout_;
  boost::interprocess::mapped_region mapping_;
  std::span<const std::byte> bytes_;
  std::vector<HeadPlace> places_;
  std::vector<std::uint64_t> heads_;
  std::vector<std::uint64_t> now_;
  std::uint64_t open_commit_ = 0;    // above which a stamp was seen
  std::uint64_t open_since_ns_ = 0;  // zero: no stamp was
};

}  // namespace vitrine::tools
