// SPDX-License-Identifier: Apache-2.0
// RawCopy: copies one moment of a whole segment as words, without knowing what they mean.
//
// Reader   like SnapshotCopy: walks every table at one commit and starts again with a newer commit
//          when a row was lapped. Bounded whatever the writer does.
// Threads  one at a time.
// Cost     one copy per row in use; a ring's entries are copied once, when they are new.
// Why      a recording keeps also tables and members that this program does not know.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shm/raw_layout.h"

namespace vitrine::shm {

// What one section held. Of a table: `count` rows from row 0, a row that was never published has
// the stamp zero. Of a ring: the `count` entries from sequence `first` on.
struct RawContent {
  std::vector<std::uint64_t> words;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t missed = 0;  // entries that were overwritten before they could be copied
};

struct RawFrame {
  std::uint64_t commit = 0;
  std::vector<RawContent> sections;  // in the order of the layout
};

class RawCopy {
 public:
  static constexpr int kTriesMax = 64;

  enum class Outcome {
    kDone,
    kBusy,    // the engine changed faster than it could be copied; nothing is lost by trying again
    kDamaged  // a page is gone, or a ring holds entries out of their order
  };

  // `segment` outlives the copy and has layout.total_bytes().
  RawCopy(const RawLayout& layout, std::span<const std::byte> segment);

  // Takes one moment. The rings' entries are those after the ones of the last kDone.
  Outcome run();
  // What the last run left; meaningful after kDone.
  const RawFrame& frame() const { return frame_; }

  // Goes on with the rings where `before`, a copy of the same engine's other file, ended.
  void continue_after(const RawCopy& before) { ring_reached_ = before.ring_reached_; }

  // Entries that the next run must fetch of the fullest ring, in parts of its capacity: near 1
  // entries are about to be missed. One load a ring.
  double fullest_ring() const;

 private:
  void copy_rings() noexcept;
  bool copy_tables() noexcept;
  void copy_plain(const RawSection& section, RawContent& out) const noexcept;
  bool copy_table(const RawSection& section, RawContent& out) const noexcept;
  void copy_ring(const RawSection& section, std::uint64_t after, RawContent& out) noexcept;
  void walk() noexcept;

  RawLayout layout_;
  std::span<const std::byte> segment_;
  std::vector<std::uint64_t> ring_reached_;  // by section: the last sequence copied
  RawFrame frame_;
  bool is_whole_ = false;
  bool is_damaged_ = false;
};

}  // namespace vitrine::shm
