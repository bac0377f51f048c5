// SPDX-License-Identifier: Apache-2.0
// SnapshotCopy: copies one moment out of a segment, without allocating.
//
// Reader   run() walks every table at one commit and starts again with a newer commit when a row
//          was lapped; after kTriesMax walks it takes each row's newest. Bounded whatever the
//          writer does, dead or alive.
// Cost     one copy per row in use; rows beyond the highest that was ever used are not looked at.
// Why      run() may be left in the middle by the guard against lost pages, so it works in room
//          that was made at attach and owns nothing.
// Source   the walk: H.-J. Boehm (see shm/protocol.h), with versions instead of one.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "shm/event_ring.h"
#include "shm/protocol.h"
#include "shm/segment_layout_check.h"
#include "shm/snapshot.h"

namespace vitrine::shm {

// One table as found in the segment, with room for a copy of each of its rows.
template <class Record>
class TableCopy {
 public:
  TableCopy() = default;
  TableCopy(const SectionPlace& place, const std::byte* segment)
      : place_(place), table_(segment + place.offset_bytes), rows_(place.count) {}

  // Copies the present rows at `commit`. With kAnyCommit rows that stay busy are left out and
  // counted; otherwise returns false at the first one.
  bool run(std::uint64_t commit, std::uint32_t& busy_rows) noexcept;

  std::span<const Record> present() const { return std::span(rows_).first(used_); }

 private:
  std::uint32_t rows_ever_used() const noexcept;
  ReadOutcome copy_row(std::uint32_t row, std::uint64_t commit, Record& out) const noexcept;

  SectionPlace place_;
  const std::byte* table_ = nullptr;
  std::vector<Record> rows_;
  std::size_t used_ = 0;
};

class SnapshotCopy {
 public:
  static constexpr std::uint32_t kTriesMax = 64;

  SnapshotCopy() = default;
  SnapshotCopy(const SegmentLayout& layout, const std::byte* segment);

  void run() noexcept;
  // Moves the last run's result into `snapshot`, all but what the reader itself knows.
  void deliver(Snapshot& snapshot) const;

  std::uint64_t load_commit() const noexcept;
  const EventRing& events() const { return events_; }

 private:
  using Tables =
      std::tuple<TableCopy<EngineRecord>, TableCopy<DeviceRecord>, TableCopy<WorkerRecord>,
                 TableCopy<MemoryRecord>, TableCopy<AllocationRecord>, TableCopy<QueueRecord>,
                 TableCopy<JobRecord>, TableCopy<PartitionRecord>, TableCopy<CountersRecord>,
                 TableCopy<BuffersRecord>>;

  bool copy_tables(std::uint64_t commit) noexcept;
  void copy_hot_lines() noexcept;
  std::uint64_t load_hot(std::size_t offset_bytes) const noexcept;

  const std::byte* hot_lines_ = nullptr;
  EventRing events_;
  Tables tables_;

  bool consistent_ = false;
  std::uint64_t commit_ = 0;
  std::uint32_t tries_ = 0;
  std::uint32_t busy_rows_ = 0;
  std::uint64_t last_event_sequence_ = 0;
  HotLines hot_{};
};

}  // namespace vitrine::shm
