// SPDX-License-Identifier: Apache-2.0
// The protocol of shm/protocol.h on WeakMemory, and the check of everything a reader may see.
//
// Cost     what a reader knows leaves it few choices: some thousand readers a scenario,
// milliseconds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shm/protocol.h"
#include "tests/shm/weak_memory.h"

namespace vitrine::shm::testing {

inline thread_local WeakMemory* current_memory = nullptr;

// WeakMemory as the protocol's policy. A mutant weakens one of the orders.
struct CheckedMemory {
  using Word = WeakMemory::Word;
  static constexpr std::memory_order kWordLoad = std::memory_order_relaxed;
  static constexpr std::memory_order kWordStore = std::memory_order_relaxed;

  static std::uint64_t load(const Word& word, std::memory_order order) noexcept {
    return current_memory->load(word, order);
  }
  static void store(Word& word, std::uint64_t value, std::memory_order order) noexcept {
    current_memory->store(word, value, order);
  }
  static void fence(std::memory_order order) noexcept {
    if (order == std::memory_order_acquire) current_memory->fence_acquire();
    if (order == std::memory_order_release) current_memory->fence_release();
  }
};

// The writer loads only what it stored itself.
struct CheckedWriterMemory : CheckedMemory {
  static std::uint64_t load(const Word& word, std::memory_order) noexcept {
    return current_memory->load_own(word);
  }
};

inline constexpr std::size_t kPayloadWords = 2;  // stamp and value: enough to be torn
using CheckedPayload = std::array<std::uint64_t, kPayloadWords>;
using WrittenRecord = RecordWords<WeakMemory::Word>;
using SeenRecord = RecordWords<const WeakMemory::Word>;

// What production runs. Mutants replace one of its parts.
template <std::size_t kSlotCount>
struct RealProtocol {
  static constexpr std::size_t kSlots = kSlotCount;
  static void publish(WrittenRecord record, const CheckedPayload& payload) {
    shm::publish<CheckedWriterMemory, kSlotCount>(record, payload);
  }
  static void end_transaction(WeakMemory::Word& commit, std::uint64_t stamp,
                              const std::vector<std::pair<WrittenRecord, CheckedPayload>>& touched,
                              void (*publish)(WrittenRecord, const CheckedPayload&)) {
    for (const auto& [record, payload] : touched) publish(record, payload);
    shm::store_commit<CheckedWriterMemory>(commit, stamp);
  }
  static std::uint64_t load_commit(const WeakMemory::Word& commit) {
    return shm::load_commit<CheckedMemory>(commit);
  }
  static ReadOutcome read_at(SeenRecord record, std::uint64_t commit, CheckedPayload& payload) {
    return shm::read_at<CheckedMemory, kSlotCount>(record, commit, payload);
  }
};

// Which records each transaction touches.
using Scenario = std::vector<std::vector<std::size_t>>;

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
    return find_fault_after_crashes();
  }
  std::size_t readers() const { return readers_; }

 private:
  static constexpr std::size_t kRecords = 3;
  // The value that transaction `stamp` gives a record: no two are the same.
  static std::uint64_t value_of(std::uint64_t stamp, std::size_t record) {
    return 100 * stamp + record;
  }
  WeakMemory::Word& commit() { return *memory_.word(0); }
  WrittenRecord record(std::size_t number) {
    const std::size_t head = 1 + number * (1 + Protocol::kSlots * kPayloadWords);
    return {memory_.word(head), memory_.word(head + 1), kPayloadWords};
  }
  SeenRecord seen(std::size_t number) {
    const WrittenRecord written = record(number);
    return {written.head, written.slots, written.slot_words};
  }

  void write(const Scenario& scenario) {
    for (std::uint64_t stamp = 1; stamp <= scenario.size(); ++stamp) {
      std::vector<std::pair<WrittenRecord, CheckedPayload>> touched;
      for (const std::size_t number : scenario[stamp - 1]) {
        last_touch_[number].push_back(stamp);
        touched.push_back({record(number), {stamp, value_of(stamp, number)}});
      }
      Protocol::end_transaction(commit(), stamp, touched, Protocol::publish);
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

  // One walk over all records at one commit; an empty text when all is well or the reader must
  // try again.
  std::string snapshot_once(bool& is_whole) {
    is_whole = true;
    const std::uint64_t at = Protocol::load_commit(commit());
    std::array<std::uint64_t, kRecords> found{};
    for (std::size_t number = 0; number < kRecords && is_whole; ++number) {
      CheckedPayload payload{};
      switch (Protocol::read_at(seen(number), at, payload)) {
        case ReadOutcome::kOk:
          found[number] = payload[0];
          if (payload[1] != value_of(payload[0], number)) return "torn at " + describe(at, number);
          break;
        case ReadOutcome::kAbsent:
          break;
        case ReadOutcome::kBusy:
          is_whole = false;
      }
      if (is_whole && found[number] != stamp_at(number, at)) {
        return "stamp " + std::to_string(found[number]) + " at " + describe(at, number);
      }
    }
    return {};
  }
  static std::string describe(std::uint64_t at, std::size_t number) {
    return "commit " + std::to_string(at) + ", record " + std::to_string(number);
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
    }
    return std::nullopt;
  }

  void begin(std::size_t alive, bool sees_all) {
    memory_.begin_reader(alive, sees_all);
    ++readers_;
  }

  WeakMemory memory_;
  std::array<std::vector<std::uint64_t>, kRecords> last_touch_;
  std::size_t readers_ = 0;
};

}  // namespace vitrine::shm::testing
