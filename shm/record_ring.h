// SPDX-License-Identifier: Apache-2.0
// RecordRing: the reader's side of a ring: EventRing and HistoryRing.
//
// Layout   `head`, the number of entries appended so far, alone on a 128-byte line; then `count`
//          entries. The one with sequence s (from 1) lies in slot (s - 1) mod count. An entry
//          begins with its stamp and its sequence.
// Reader   never waits. An entry that was copied while the writer may have been overwriting it is
//          dropped and counted as missed, exactly.
// Memory order
//   the first load(acquire) of head pairs with the writer's store(release) after the words;
//   the fence(acquire) before its second load pairs with the writer's fence(release) before the
//   words: who sees a word of entry s + count sees head >= s + count - 1 and drops its copy.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shm/records.h"
#include "shm/segment_layout_check.h"

namespace vitrine::shm {

template <class Entry>
class RecordRing {
 public:
  // What copy_after() left in `out`.
  struct Range {
    std::size_t skipped = 0;   // entries of `out` before the first good one
    std::size_t count = 0;     // good ones
    std::uint64_t missed = 0;  // entries between the one asked for and the first good one
    bool is_damaged = false;   // an entry was not the one that belongs there
  };

  RecordRing() = default;
  RecordRing(const SectionPlace& place, const std::byte* segment)
      : place_(place), ring_(segment + place.offset_bytes) {}

  std::uint32_t count() const { return place_.count; }

  // Copies the entries after `sequence` that belong to transactions up to `commit`. Requires:
  // count() != 0.
  Range copy_after(std::uint64_t sequence, std::uint64_t commit,
                   std::span<Entry> out) const noexcept;

  // Sequence of the newest entry of transactions up to `commit`; zero when there is none.
  std::uint64_t newest_at(std::uint64_t commit) const noexcept;

 private:
  std::uint64_t load_head(std::memory_order order) const noexcept;
  const std::uint64_t* words_of(std::uint64_t sequence) const noexcept;
  Entry copy(std::uint64_t sequence) const noexcept;
  bool is_head_behind(std::uint64_t head) const noexcept;

  SectionPlace place_;
  const std::byte* ring_ = nullptr;
};

using EventRing = RecordRing<Event>;
using HistoryRing = RecordRing<HistorySample>;

}  // namespace vitrine::shm
