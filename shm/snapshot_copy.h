// SPDX-License-Identifier: Apache-2.0
// SnapshotCopy: copies one moment out of a segment, without allocating.
//
// Reader   run() walks every table at one commit and starts again with a newer commit when a row
//          was lapped; after kTriesMax walks it takes each row's newest. Bounded whatever the
//          writer does, dead or alive.
// Cost     one copy per row in use; rows beyond the highest that was ever used are not looked at.
//          Room is reserved, not filled: a program that looks once touches only what it copies,
//          since a page of memory costs more than the rows in it.
// Why      run() may be left in the middle by the guard against lost pages, so it works in room
//          that was made at attach and owns nothing.
// Source   the walk: H.-J. Boehm (see shm/protocol.h), with versions instead of one.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "shm/protocol.h"
#include "shm/record_ring.h"
#include "shm/segment_layout_check.h"
#include "shm/segment_schema.h"
#include "shm/snapshot.h"

namespace vitrine::shm {

// One table as found in the segment, with room for a copy of each of its rows.
template <class Record>
class TableCopy {
 public:
  TableCopy() = default;
  // `own_words`: of the record's own members, as many as the segment has; `end_words`: those behind
  // them that are copied too.
  TableCopy(const SectionPlace& place, const std::byte* segment, std::size_t own_words,
            std::size_t end_words)
      : place_(place),
        table_(segment + place.offset_bytes),
        own_words_(own_words),
        end_words_(end_words),
        ends_(place.count * end_words) {
    rows_.reserve(place.count);
  }

  // Copies the present rows at `commit`. With kAnyCommit rows that stay busy are left out and
  // counted; otherwise returns false at the first one.
  bool run(std::uint64_t commit, std::uint32_t& busy_rows) noexcept;

  std::span<const Record> present() const { return rows_; }
  // Adds the ends of the present rows, when the table has any.
  void deliver_ends(std::vector<RawRows>& out) const;

 private:
  ReadOutcome copy_row(std::uint32_t row, std::uint64_t commit) noexcept;

  SectionPlace place_;
  const std::byte* table_ = nullptr;
  std::vector<Record> rows_;  // never longer than the room that was made for it
  std::size_t own_words_ = 0, end_words_ = 0;
  std::vector<std::uint64_t> ends_;
};

// A table that only the segment's schema knows.
class UnknownTableCopy {
 public:
  UnknownTableCopy(SectionId section, const SectionPlace& place, const std::byte* segment);

  bool run(std::uint64_t commit, std::uint32_t& busy_rows) noexcept;
  void deliver(std::vector<RawRows>& out) const;

 private:
  SectionId section_;
  SectionPlace place_;
  const std::byte* table_;
  std::size_t words_per_row_;
  std::vector<std::uint64_t> words_;
  std::size_t used_ = 0;
};

class SnapshotCopy {
 public:
  static constexpr std::uint32_t kTriesMax = 64;

  SnapshotCopy() = default;
  // `schema`: what the segment has beyond the catalogue; null when nothing.
  SnapshotCopy(const SegmentLayout& layout, const std::byte* segment, const SegmentSchema* schema);

  void run() noexcept;
  // Moves the last run's result into `snapshot`, all but what the reader itself knows.
  void deliver(Snapshot& snapshot) const;

  std::uint64_t load_commit() const noexcept;
  const EventRing& events() const { return events_; }
  const HistoryRing& history() const { return history_; }

 private:
  bool copy_tables(std::uint64_t commit) noexcept;
  void copy_hot_lines() noexcept;
  void copy_last_words() noexcept;
  std::uint64_t load_hot(std::size_t offset_bytes) const noexcept;

  const std::byte* hot_lines_ = nullptr;
  const std::byte* last_words_ = nullptr;
  EventRing events_;
  HistoryRing history_;
  TableRecords::Each<TableCopy> tables_;
  std::vector<UnknownTableCopy> unknown_tables_;

  bool consistent_ = false;
  bool damaged_ = false;
  std::uint64_t commit_ = 0;
  std::uint32_t tries_ = 0;
  std::uint32_t busy_rows_ = 0;
  std::uint64_t last_event_sequence_ = 0;
  HotLines hot_{};
  LastWords words_;
};

}  // namespace vitrine::shm
