// SPDX-License-Identifier: Apache-2.0
// One moment of everything: the state of an engine at one commit, copied out of its segment.
//
// Layout   plain data: a vector of present rows per table, in row order; cheap to move. Filling
//          the same Snapshot again reuses its memory.
// Reader   every number, word and text may be anything: bytes from a segment are untrusted. Only
//          `identity.row` is checked: it is the row's true place in its table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shm/catalogue.h"
#include "shm/records.h"

namespace vitrine::shm {

// Rows, or the ends of rows, as the segment has them: what this program's catalogue does not know.
struct RawRows {
  SectionId section{};
  std::size_t words_per_row = 0;
  std::vector<std::uint64_t> words;

  std::size_t count() const { return words_per_row == 0 ? 0 : words.size() / words_per_row; }
  std::span<const std::byte> row(std::size_t index) const {
    return std::as_bytes(std::span(words).subspan(index * words_per_row, words_per_row));
  }
};

struct Snapshot {
  bool consistent = false;  // false: each row is its newest, of different commits
  // Not consistent though the commit stood: no writer was too fast, the rows do not fit the commit.
  bool damaged = false;
  std::uint64_t commit = 0;     // number of the transaction that this is the state after
  std::string incarnation;      // 32 hex digits
  std::uint32_t tries = 0;      // walks over the tables that it took
  std::uint32_t busy_rows = 0;  // rows left out because they changed faster than they were copied

  EngineLife life{};
  std::uint32_t exit_code = 0;  // meaningful once life is kClosed
  std::uint32_t last_signal = 0;
  std::uint64_t heartbeat = 0;  // how often the engine has beaten
  std::uint64_t heartbeat_interval_ns = 0;
  std::uint64_t heartbeat_monotonic_ns = 0;  // time of the last beat, on the engine's clock
  std::int64_t unix_minus_monotonic_ns = 0;  // adds to an Instant
  std::uint64_t last_event_sequence = 0;     // newest event of this commit; zero: none
  LastWords last_words;                      // of a signal handler; `written` is zero when none

  std::uint64_t taken_monotonic_ns = 0;  // reader's CLOCK_MONOTONIC, before anything was copied
  std::uint64_t heartbeat_age_ns = 0;    // reader's time from the last beat to `taken`

  // Present rows only, in row order.
  template <class Record>
  const std::vector<Record>& rows() const {
    return std::get<std::vector<Record>>(tables_);
  }
  template <class Record>
  std::vector<Record>& rows() {
    return std::get<std::vector<Record>>(tables_);
  }

  // Tables of one row; a record of zeros when absent.
  const EngineRecord& engine() const { return single<EngineRecord>(); }
  const MemoryRecord& memory() const { return single<MemoryRecord>(); }
  const BuffersRecord& buffers() const { return single<BuffersRecord>(); }

  // What lies behind the members of rows<Record>()[index], by the segment's own schema
  // (SegmentSchema::unknown_fields); empty when it has no such fields.
  template <class Record>
  std::span<const std::byte> extra_of(std::size_t index) const {
    for (const RawRows& ends : row_ends) {
      if (ends.section == TableOf<Record>::kSection) return ends.row(index);
    }
    return {};
  }
  std::vector<RawRows> row_ends;        // in step with rows<Record>()
  std::vector<RawRows> unknown_tables;  // present rows of tables that only the segment's schema has

  // The partitions of a job, by partition number.
  std::vector<PartitionRecord> partitions_of(Id job) const;

  // Age of an instant at `taken`, free of the difference between two machines' clocks: time from
  // it to the last beat on the engine's clock, plus time since that beat on the reader's.
  // Negative for an instant to come.
  std::int64_t age_ns(Instant instant) const;
  // Time from the engine's last sign of life to `taken`: its last beat, or its last words when they
  // were later. What an engine that is gone had been doing, it did until then.
  std::uint64_t last_sign_age_ns() const;
  // Wall-clock time of an instant and of this snapshot, in ns since 1970.
  std::int64_t unix_ns_of(Instant instant) const;
  std::int64_t taken_unix_ns() const;

 private:
  template <class Record>
  const Record& single() const {
    static const Record kAbsent{};
    return rows<Record>().empty() ? kAbsent : rows<Record>().front();
  }

  template <class Record>
  using Rows = std::vector<Record>;

  TableRecords::Each<Rows> tables_;
};

// Whether a row describes an item. Rows are never removed, only emptied.
inline bool is_present(const EngineRecord& row) { return row.identity.stamp != 0; }
inline bool is_present(const MemoryRecord& row) { return row.identity.stamp != 0; }
inline bool is_present(const BuffersRecord& row) { return row.identity.stamp != 0; }
inline bool is_present(const DeviceRecord& row) { return row.state != DeviceState{}; }
inline bool is_present(const WorkerRecord& row) { return row.state != WorkerState{}; }
inline bool is_present(const AllocationRecord& row) { return row.state != AllocationState{}; }
inline bool is_present(const QueueRecord& row) { return row.name != QueueName{}; }
inline bool is_present(const JobRecord& row) { return row.state != JobState{}; }
inline bool is_present(const PartitionRecord& row) { return row.stage != PartitionStage{}; }
inline bool is_present(const CountersRecord& row) { return !row.proof_kind.view().empty(); }
inline bool is_present(const ThreadRecord& row) { return !row.name.view().empty(); }
inline bool is_present(const LimiterRecord& row) { return !row.name.view().empty(); }
inline bool is_present(const StageTimesRecord& row) { return row.stage != PartitionStage{}; }
inline bool is_present(const SettingRecord& row) { return !row.name.view().empty(); }
inline bool is_present(const ErrorRecord& row) { return row.count != 0; }

}  // namespace vitrine::shm
