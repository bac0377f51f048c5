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
  std::uint64_t rows() const { return heads_.size(); }

 private:
  shm::SegmentLayout layout_;
  boost::interprocess::mapped_region mapping_;
  std::span<const std::byte> bytes_;
  std::vector<std::size_t> offsets_;
  std::vector<std::uint64_t> heads_;
  std::vector<std::uint64_t> now_;
};

}  // namespace vitrine::tools
