// SPDX-License-Identifier: Apache-2.0
// PlannedState: a run of transactions whose every row and event is a function of the commit alone.
//
// Layout   transaction n touches in each table the row whose turn it is, and appends n mod 3
//          events. A row's turn comes at least every `period` transactions; of five turns three
//          give the row to a new item, one edits it and one takes it away. Every word of a payload
//          is a hash of table, row, stamp and its place, so that a torn or mixed copy is seen.
// Why      whoever knows a commit can say what each byte of the segment must be, in closed form:
//          no run has to be repeated to check the state that another process left.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

#include "shm/segment_reader.h"
#include "shm/segment_writer.h"

namespace vitrine::shm::testing {

class PlannedState {
 public:
  // A short period laps readers all the time; a long one lets them see consistent snapshots.
  PlannedState(const Capacity& capacity, std::uint32_t period)
      : plan_(plan_segment(capacity)), period_(period) {}

  // Transaction `number`. Requires: those before it were run on the same writer.
  void run(SegmentWriter& writer, std::uint64_t number) const {
    Transaction transaction = writer.begin();
    const auto append = [&](std::uint64_t count) {
      for (std::uint64_t i = 1; i <= count; ++i) {
        transaction.append(event(events_at(number - 1) + i));
      }
    };
    append(number % 3 == 2 ? 2 : 0);
    for_each_table([&]<class Record>() {
      const std::uint64_t turn = number + table_of<Record>();
      if (turn % divisor_of<Record>() != 0) return;
      const auto row = static_cast<std::uint32_t>(turn / divisor_of<Record>() % rows_of<Record>());
      touch<Record>(transaction, row, number);
    });
    append(number % 3 == 1 ? 1 : 0);
  }

  // The row as it must be at `commit`; none when it is not there.
  template <class Record>
  std::optional<Record> row_at(std::uint32_t row, std::uint64_t commit) const {
    const std::optional<Touch> touch = last_touch<Record>(row, commit);
    if (!touch) return std::nullopt;
    Record record = touch->is_clear() ? Record{} : filled<Record>(row, touch->stamp);
    record.identity = {touch->stamp, row, touch->generation()};
    return is_present(record) ? std::optional(record) : std::nullopt;
  }

  // The number of events that the first `commit` transactions append.
  static std::uint64_t events_at(std::uint64_t commit) {
    return commit / 3 * 3 + (commit % 3 == 2 ? 3 : commit % 3);
  }
  static Event event(std::uint64_t sequence) {
    std::uint64_t words[sizeof(Event) / 8];
    for (std::size_t i = 0; i < std::size(words); ++i) words[i] = hash(sequence, 0xE0 + i);
    Event event;
    std::memcpy(static_cast<void*>(&event), words, sizeof(event));
    event.stamp = (sequence - 1) / 3 * 3 + ((sequence - 1) % 3 == 0 ? 1 : 2);
    event.sequence = sequence;
    return event;
  }

  template <class Record>
  std::uint32_t rows_of() const {
    return plan_.count_of(TableOf<Record>::kSection);
  }

 private:
  struct Touch {
    std::uint64_t stamp;
    std::uint64_t ordinal;  // of the touches of this row, from zero

    bool is_clear() const { return ordinal % 5 == 4; }
    bool is_edit() const { return ordinal % 5 == 2; }
    std::uint32_t generation() const {
      constexpr std::uint64_t kRecycledOf[] = {1, 2, 2, 3, 3};
      return static_cast<std::uint32_t>(ordinal / 5 * 3 + kRecycledOf[ordinal % 5]);
    }
  };

  // Source: the finaliser of splitmix64 (S. Vigna, public domain).
  static std::uint64_t hash(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = a * 0x9E3779B97F4A7C15 + b * 0xD1B54A32D192ED03;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }

  template <class Record>
  static constexpr std::uint64_t table_of() {
    return static_cast<std::uint64_t>(TableOf<Record>::kSection);
  }
  template <class Record>
  std::uint64_t divisor_of() const {
    return std::max<std::uint64_t>(1, period_ / rows_of<Record>());
  }

  template <class Record>
  std::optional<Touch> last_touch(std::uint32_t row, std::uint64_t commit) const {
    const std::uint64_t rows = rows_of<Record>();
    const std::uint64_t divisor = divisor_of<Record>();
    const std::uint64_t table = table_of<Record>();
    const std::uint64_t newest_turn = (commit + table) / divisor;
    const std::uint64_t back = (newest_turn + rows - row) % rows;
    if (back > newest_turn || (newest_turn - back) * divisor <= table) return std::nullopt;
    const std::uint64_t turn = newest_turn - back;
    const std::uint64_t earliest = table / divisor + 1;  // the first turn of any row
    const std::uint64_t first = earliest + (row + rows - earliest % rows) % rows;
    return Touch{turn * divisor - table, (turn - first) / rows};
  }

  template <class Record>
  static Record filled(std::uint32_t row, std::uint64_t stamp) {
    std::uint64_t words[sizeof(Record) / 8];
    const std::uint64_t place = table_of<Record>() << 40 | std::uint64_t{row} << 16;
    for (std::size_t i = 0; i < std::size(words); ++i) words[i] = hash(stamp, place + i);
    Record record;
    std::memcpy(static_cast<void*>(&record), words, sizeof(record));
    if constexpr (std::is_same_v<Record, ThreadRecord>) record.limit_ns = 0;  // overruns no step
    return record;
  }

  template <class Record>
  void touch(Transaction& transaction, std::uint32_t row, std::uint64_t number) const {
    const Touch touch = last_touch<Record>(row, number).value();
    if (touch.is_clear()) return transaction.clear<Record>(row);
    Record& record =
        touch.is_edit() ? transaction.edit<Record>(row) : transaction.recycle<Record>(row);
    const Identity identity = record.identity;
    record = filled<Record>(row, number);
    record.identity = identity;
  }

  SegmentPlan plan_;
  std::uint64_t period_;
};

template <class Record>
bool is_same(const Record& left, const Record& right) {
  return std::memcmp(&left, &right, sizeof(Record)) == 0;
}

// What is wrong with a snapshot; empty when nothing is. A consistent one must be the plan's state
// at its commit, byte by byte; of another each row must be a state that the plan has for that row.
inline std::string fault_of(const PlannedState& plan, const Snapshot& snapshot) {
  std::string fault;
  for_each_table([&]<class Record>() {
    auto found = snapshot.rows<Record>().begin();
    const auto end = snapshot.rows<Record>().end();
    for (std::uint32_t row = 0; row < plan.rows_of<Record>() && fault.empty(); ++row) {
      const bool is_there = found != end && found->identity.row == row;
      const std::uint64_t at =
          snapshot.consistent || !is_there ? snapshot.commit : found->identity.stamp;
      const std::optional<Record> expected = plan.row_at<Record>(row, at);
      const bool is_right =
          is_there ? expected && is_same(*expected, *found) : !expected || !snapshot.consistent;
      if (!is_right) {
        fault = std::string(TableOf<Record>::kName) + " row " + std::to_string(row) +
                " at commit " + std::to_string(snapshot.commit) +
                (is_there ? ", stamp " + std::to_string(found->identity.stamp) : ", absent");
      }
      if (is_there) ++found;
    }
    if (fault.empty() && found != end) fault = "rows out of order";
  });
  if (fault.empty() && snapshot.consistent &&
      snapshot.last_event_sequence != PlannedState::events_at(snapshot.commit)) {
    fault = "last event " + std::to_string(snapshot.last_event_sequence) + " at commit " +
            std::to_string(snapshot.commit);
  }
  return fault;
}

// What is wrong with the events that came after `sequence`.
inline std::string fault_of(const EventBatch& batch, std::uint64_t sequence) {
  sequence += batch.missed;
  for (const Event& event : batch.events) {
    ++sequence;
    if (!is_same(event, PlannedState::event(sequence))) {
      return "event " + std::to_string(sequence) + " of commit " + std::to_string(event.stamp);
    }
  }
  return batch.last_sequence == sequence ? "" : "events are not counted right";
}

}  // namespace vitrine::shm::testing
