// SPDX-License-Identifier: Apache-2.0
// ProtocolCheck: runs a writer on WeakMemory and looks at everything that a reader may see.
//
// Cost     what a reader knows leaves it few choices: some thousand readers a scenario,
//          milliseconds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/shm/checked_protocol.h"

namespace vitrine::shm::testing {

// What each transaction touches, in this order, and how many events it appends.
struct ScenarioStep {
  std::vector<std::size_t> records;
  std::size_t events = 0;
};
using Scenario = std::vector<ScenarioStep>;

template <class Protocol>
class ProtocolCheck {
 public:
  explicit ProtocolCheck(const Scenario& scenario) {
    current_memory = &memory_;
    write(scenario);
  }

  // What a reader may see that it must not; none when the protocol is right.
  std::optional<std::string> find_fault() {
    if (auto fault = find_fault_of_live_snapshots()) return fault;
    if (auto fault = find_fault_of_single_reads()) return fault;
    if (auto fault = find_fault_of_followers()) return fault;
    return find_fault_after_crashes();
  }
  std::size_t readers() const { return readers_; }

 private:
  static constexpr std::size_t kRecords = 3;
  static constexpr std::size_t kRing = Protocol::kSlots;
  static constexpr std::size_t kFirstRecord = 3 + kRing * kPayloadWords;
  static_assert(kFirstRecord + kRecords * (1 + Protocol::kSlots * kPayloadWords) <=
                WeakMemory::kWords);

  // The value that transaction `stamp` gives a record: no two are the same.
  static std::uint64_t value_of(std::uint64_t stamp, std::size_t record) {
    return 100 * stamp + record;
  }
  WeakMemory::Word& commit() { return *memory_.word(0); }
  WeakMemory::Word& used() { return *memory_.word(1); }
  WrittenRing ring() {
    return {memory_.word(2), memory_.word(3), kPayloadWords, kPayloadWords, kRing};
  }
  SeenRing seen_ring() {
    const WrittenRing written = ring();
    return {written.head, written.slots, written.slot_words, written.entry_words, written.count};
  }
  WrittenRecord record(std::size_t number) {
    const std::size_t head = kFirstRecord + number * (1 + Protocol::kSlots * kPayloadWords);
    return {memory_.word(head), memory_.word(head + 1), kPayloadWords};
  }
  SeenRecord seen(std::size_t number) {
    const WrittenRecord written = record(number);
    return {written.head, written.slots, written.slot_words};
  }

  void write(const Scenario& scenario) {
    std::uint64_t rows_used = 0;
    for (std::uint64_t stamp = 1; stamp <= scenario.size(); ++stamp) {
      const ScenarioStep& step = scenario[stamp - 1];
      CheckedTransaction transaction{stamp, {}, {}, 0, commit(), used(), ring()};
      for (const std::size_t number : step.records) {
        last_touch_[number].push_back(stamp);
        transaction.touched.push_back({record(number), {stamp, value_of(stamp, number)}});
        rows_used = std::max<std::uint64_t>(rows_used, number + 1);
      }
      for (std::size_t i = 0; i < step.events; ++i) {
        stamp_of_event_.push_back(stamp);
        transaction.appended.push_back(stamp_of_event_.size());
      }
      transaction.rows_used = rows_used;
      Protocol::template run<Protocol>(transaction);
    }
  }

  // The stamp of the record at commit `at`; zero when it did not exist.
  std::uint64_t stamp_at(std::size_t number, std::uint64_t at) const {
    std::uint64_t stamp = 0;
    for (const std::uint64_t touch : last_touch_[number]) {
      if (touch <= at) stamp = touch;
    }
    return stamp;
  }
  // The number of events of the transactions up to `at`.
  std::uint64_t events_at(std::uint64_t at) const {
    std::uint64_t count = 0;
    for (const std::uint64_t stamp : stamp_of_event_) count += stamp <= at;
    return count;
  }

  // One walk over ring and records at one commit, in the order of SnapshotCopy; an empty text
  // when all is well or the reader must try again.
  std::string snapshot_once(bool& is_whole) {
    const CheckedStart start = Protocol::start(commit(), used());
    const std::optional<std::uint64_t> newest = Protocol::newest_at(seen_ring(), start.commit);
    is_whole = newest.has_value();
    if (newest && *newest != events_at(start.commit)) {
      return "last event " + std::to_string(*newest) + " at commit " + std::to_string(start.commit);
    }
    const std::size_t rows = start.rows_used == 0 ? kRecords : start.rows_used;
    for (std::size_t number = 0; number < kRecords && is_whole; ++number) {
      std::uint64_t found = 0;
      CheckedPayload payload{};
      const auto outcome = number < rows ? Protocol::read_at(seen(number), start.commit, payload)
                                         : ReadOutcome::kAbsent;
      is_whole = outcome != ReadOutcome::kBusy;
      if (outcome == ReadOutcome::kOk) {
        found = payload[0];
        if (payload[1] != value_of(found, number)) return "torn at " + describe(start, number);
      }
      if (is_whole && found != stamp_at(number, start.commit)) {
        return "stamp " + std::to_string(found) + " at " + describe(start, number);
      }
    }
    return {};
  }
  static std::string describe(const CheckedStart& start, std::size_t number) {
    return "commit " + std::to_string(start.commit) + ", record " + std::to_string(number);
  }

  std::optional<std::string> find_fault_of_live_snapshots() {
    do {
      begin(memory_.stores(), false);
      bool is_whole = false;
      if (std::string fault = snapshot_once(is_whole); !fault.empty()) return "live: " + fault;
    } while (memory_.next_choices());
    return std::nullopt;
  }

  // Two reads of one record, whatever the commit: whole, and never backward.
  std::optional<std::string> find_fault_of_single_reads() {
    do {
      begin(memory_.stores(), false);
      std::uint64_t before = 0;
      for (int read = 0; read < 2; ++read) {
        CheckedPayload payload{};
        if (Protocol::read_at(seen(0), kAnyCommit, payload) != ReadOutcome::kOk) continue;
        if (payload[1] != value_of(payload[0], 0)) return "single read: torn";
        if (payload[0] < before) return "single read: backward";
        before = payload[0];
      }
    } while (memory_.next_choices());
    return std::nullopt;
  }

  // Asks for the events after `sequence`; an empty text when all is well.
  std::string follow_once(std::uint64_t sequence) {
    const std::uint64_t at = Protocol::start(commit(), used()).commit;
    std::array<CheckedEntry, kRing> out{};
    const RingRange range = Protocol::copy_after(seen_ring(), sequence, at, out);
    if (range.is_damaged) return "a whole ring looks damaged";
    std::uint64_t last = sequence + range.missed;
    for (std::size_t i = 0; i < range.count; ++i) {
      const CheckedEntry& entry = out[range.skipped + i];
      if (entry.sequence != ++last) return "events out of order";
      if (entry.stamp != stamp_of_event_[last - 1]) return "torn event";
      if (entry.stamp > at) return "event of an open transaction";
    }
    if (last > stamp_of_event_.size()) return "missed what never happened";
    // Only an event that is being overwritten may be missed: there must be as many after it.
    if (range.missed > 0 && sequence + range.missed + kRing - 1 > stamp_of_event_.size()) {
      return "missed an event that is still there";
    }
    const bool is_late = sequence < events_at(at);
    return is_late && range.skipped == 0 && last < events_at(at) ? "an event is left out" : "";
  }
  std::optional<std::string> find_fault_of_followers() {
    for (std::uint64_t sequence = 0; sequence < stamp_of_event_.size(); ++sequence) {
      do {
        begin(memory_.stores(), false);
        std::string fault = follow_once(sequence);
        if (!fault.empty()) return "after event " + std::to_string(sequence) + ": " + fault;
      } while (memory_.next_choices());
    }
    return std::nullopt;
  }

  // The writer dies after each of its stores; whoever comes later sees all of them, and must find
  // exactly the last commit, at the first try.
  std::optional<std::string> find_fault_after_crashes() {
    for (std::size_t alive = 0; alive <= memory_.stores(); ++alive) {
      begin(alive, true);
      bool is_whole = false;
      const std::string fault = snapshot_once(is_whole);
      const std::string when = "dead after store " + std::to_string(alive) + ": ";
      if (!fault.empty()) return when + fault;
      if (!is_whole) return when + "the last commit cannot be read";
      begin(alive, true);
      if (std::string late = follow_once(0); !late.empty()) return when + late;
    }
    return std::nullopt;
  }

  void begin(std::size_t alive, bool sees_all) {
    memory_.begin_reader(alive, sees_all);
    ++readers_;
  }

  WeakMemory memory_;
  std::array<std::vector<std::uint64_t>, kRecords> last_touch_;
  std::vector<std::uint64_t> stamp_of_event_;  // by sequence, from 1
  std::size_t readers_ = 0;
};

}  // namespace vitrine::shm::testing
