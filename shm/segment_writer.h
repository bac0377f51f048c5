// SPDX-License-Identifier: Apache-2.0
// SegmentWriter: the engine's side of the segment, and Transaction: one change of state.
//
// Layout   shm/layout.h.
// Threads  begin() and the Transaction it returns belong to whoever holds the engine's state
//          mutex; there is one open Transaction at most. beat() and set_life() store single words
//          and may be called by any one thread at any time.
// Cost     a transaction is one slot copy per touched row and one store; no system call, no
//          allocation, no failure.
// Crash    readers see the state of the last commit, exactly (shm/protocol.h).
// Why      without shared memory the same records go to private memory: status writes cannot
//          fail the engine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "shm/catalogue.h"
#include "shm/error.h"
#include "shm/ring_writer.h"
#include "shm/segment_plan_writer.h"
#include "shm/table_writer.h"

namespace vitrine::shm {

class Transaction;

class SegmentWriter {
 public:
  // Takes the name, retires a dead predecessor and publishes a new segment under
  // `options.path`. Errors: kInUse (another live engine, or another user's segment), kUnreadable,
  // kSystem (no room, no permission).
  static Result<SegmentWriter> publish_named(const SegmentOptions& options);
  // The same records in memory that nobody else sees. Cannot fail.
  static SegmentWriter in_private_memory(const SegmentOptions& options);

  SegmentWriter(SegmentWriter&&) noexcept;
  SegmentWriter& operator=(SegmentWriter&&) noexcept;
  ~SegmentWriter();

  // Opens a transaction. Requires: the caller holds the state mutex until it ends.
  Transaction begin();

  // One heartbeat: counter, its time, and the distance between wall and monotonic clock.
  void beat() noexcept;
  void set_life(EngineLife life, std::uint32_t exit_code) noexcept;
  // For signal handlers: single stores, no lock, no system call. note_signal() is for signals that
  // the process survives, write_last_words() for the one that ends it; `written` is filled in.
  void note_signal(int signal) noexcept;
  void write_last_words(const LastWords& words) noexcept;

  bool is_shared() const;
  // Why readers refuse the segment all the same, in one line; empty when they do not: its folder is
  // not in a tmpfs.
  std::string reader_obstacle() const;
  const std::filesystem::path& path() const;
  std::string incarnation() const;
  // True when the name no longer leads to this segment (a cleaner removed it).
  bool is_name_lost() const;
  // True when the segment's file was cut or overwritten, as far as its size, its holes and its
  // header tell: readers cannot read it. Stores go on without effect.
  bool is_damaged() const;
  // True when a commit, a row or a ring is not what was stored last: somebody overwrote it. A row's
  // head and the stamp of its newest version are looked at, a portion of the rows at a time while
  // `state_mutex` is held. For once a second, in the thread that beats.
  bool are_rows_damaged(std::mutex& state_mutex) const;
  // Goes on in a new segment of the same incarnation and content, under the same name; for a name
  // that was lost, or a file or rows that were damaged. Call it in the thread that beats;
  // `state_mutex` is held for the copy only. Errors as publish_named's; it may be tried again.
  Result<void> publish_again(std::mutex& state_mutex);
  // Removes the name and the lock file, for one-shot programs that end well. Readers keep their
  // mapping.
  void unlink_name();

 private:
  friend class Transaction;
  struct State;

  explicit SegmentWriter(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// Edits private copies of rows; the destructor publishes each touched row once and then moves
// `commit`. Members of Identity are the writer's own.
class Transaction {
 public:
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  template <class Record>
  std::uint32_t capacity() const {
    return std::get<TableWriter<Record>>(tables_).count();
  }
  template <class Record>
  Record& edit(std::uint32_t row = 0) {
    return table<Record>().edit(row);
  }
  template <class Record>
  const Record& peek(std::uint32_t row = 0) const {
    return const_cast<Transaction*>(this)->table<Record>().row(row);
  }
  // Gives the row to a new item: everything zero, generation one higher.
  template <class Record>
  Record& recycle(std::uint32_t row) {
    Record& record = edit<Record>(row);
    const std::uint32_t generation = record.identity.generation + 1;
    for (std::uint64_t& word : edit_extra<Record>(row)) word = 0;
    record = Record{};
    record.identity.row = row;
    record.identity.generation = generation;
    return record;
  }
  // The extra fields of a row (shm/extra_field.h), as words in the order they were declared.
  template <class Record>
  std::span<std::uint64_t> edit_extra(std::uint32_t row = 0) {
    return table<Record>().edit_extra(row);
  }
  // Takes the row away from its item: readers find no item there.
  template <class Record>
  void clear(std::uint32_t row) {
    Record& record = edit<Record>(row);
    const Identity identity = record.identity;
    for (std::uint64_t& word : edit_extra<Record>(row)) word = 0;
    record = Record{};
    record.identity = identity;
  }
  // Appends to the event or the history ring; `stamp` and `sequence` are filled in.
  void append(const Event& event) noexcept;
  void append(const HistorySample& sample) noexcept;

 private:
  friend class SegmentWriter;
  using Tables = TableRecords::Each<TableWriter>;

  Transaction(SegmentWriter::State& state, Tables& tables);
  template <class Record>
  TableWriter<Record>& table() {
    return std::get<TableWriter<Record>>(tables_);
  }

  SegmentWriter::State& state_;
  Tables& tables_;
};

}  // namespace vitrine::shm
