// SPDX-License-Identifier: Apache-2.0
// Every execution of the protocol that C++ allows, and the mutants that this check must catch.
#include <catch2/catch.hpp>

#include "tests/shm/checked_protocol.h"

namespace vitrine::shm::testing {
namespace {

// Laps one record past all its slots while the others stand still, change late, or come late.
template <std::size_t kSlotCount>
std::vector<Scenario> scenarios() {
  Scenario one_lapped(kSlotCount + 3, {0});
  one_lapped[0] = {0, 1, 2};
  Scenario one_late(kSlotCount + 3, {1});
  one_late[kSlotCount - 1] = {0, 1};
  const Scenario all(kSlotCount + 1, {2, 1, 0});
  return {one_lapped, one_late, all, {}, {{1}}};
}

template <class Protocol>
std::optional<std::string> fault_of() {
  for (const Scenario& scenario : scenarios<Protocol::kSlots>()) {
    if (auto fault = ProtocolCheck<Protocol>(scenario).find_fault()) return fault;
  }
  return std::nullopt;
}

// A policy whose loads, stores or fences of one order are weaker.
template <std::memory_order kLost, class Memory>
struct Weakened : Memory {
  using Word = typename Memory::Word;
  static constexpr std::memory_order weaken(std::memory_order order) {
    return order == kLost ? std::memory_order_relaxed : order;
  }
  static std::uint64_t load(const Word& word, std::memory_order order) noexcept {
    return Memory::load(word, weaken(order));
  }
  static void store(Word& word, std::uint64_t value, std::memory_order order) noexcept {
    Memory::store(word, value, weaken(order));
  }
};
template <class Memory>
struct Unfenced : Memory {
  static void fence(std::memory_order) noexcept {}
};

template <std::size_t kSlotCount>
struct NoReleaseOfHead : RealProtocol<kSlotCount> {
  static void publish(WrittenRecord record, const CheckedPayload& payload) {
    using Memory = Weakened<std::memory_order_release, CheckedWriterMemory>;
    shm::publish<Memory, kSlotCount>(record, payload);
  }
};
template <std::size_t kSlotCount>
struct NoReleaseFence : RealProtocol<kSlotCount> {
  static void publish(WrittenRecord record, const CheckedPayload& payload) {
    shm::publish<Unfenced<CheckedWriterMemory>, kSlotCount>(record, payload);
  }
};
template <std::size_t kSlotCount>
struct NoReleaseOfCommit : RealProtocol<kSlotCount> {
  static void end_transaction(WeakMemory::Word& commit, std::uint64_t stamp,
                              const std::vector<std::pair<WrittenRecord, CheckedPayload>>& touched,
                              void (*publish)(WrittenRecord, const CheckedPayload&)) {
    for (const auto& [record, payload] : touched) publish(record, payload);
    using Memory = Weakened<std::memory_order_release, CheckedWriterMemory>;
    shm::store_commit<Memory>(commit, stamp);
  }
};
template <std::size_t kSlotCount>
struct NoAcquireOfHead : RealProtocol<kSlotCount> {
  static ReadOutcome read_at(SeenRecord record, std::uint64_t commit, CheckedPayload& payload) {
    using Memory = Weakened<std::memory_order_acquire, CheckedMemory>;
    return shm::read_at<Memory, kSlotCount>(record, commit, payload);
  }
};
template <std::size_t kSlotCount>
struct NoAcquireFence : RealProtocol<kSlotCount> {
  static ReadOutcome read_at(SeenRecord record, std::uint64_t commit, CheckedPayload& payload) {
    return shm::read_at<Unfenced<CheckedMemory>, kSlotCount>(record, commit, payload);
  }
};
template <std::size_t kSlotCount>
struct NoAcquireOfCommit : RealProtocol<kSlotCount> {
  static std::uint64_t load_commit(const WeakMemory::Word& commit) {
    return CheckedMemory::load(commit, std::memory_order_relaxed);
  }
};

template <std::size_t kSlotCount>
WeakMemory::Word& slot_word(WrittenRecord record, std::uint64_t version, std::size_t i) {
  return record.slots[(version % kSlotCount) * record.slot_words + i];
}

template <std::size_t kSlotCount>
struct FenceAfterWords : RealProtocol<kSlotCount> {
  static void publish(WrittenRecord record, const CheckedPayload& payload) {
    const std::uint64_t next = current_memory->load_own(*record.head) + 1;
    for (std::size_t i = 0; i < payload.size(); ++i) {
      current_memory->store(slot_word<kSlotCount>(record, next, i), payload[i],
                            std::memory_order_relaxed);
    }
    current_memory->fence_release();
    current_memory->store(*record.head, next, std::memory_order_release);
  }
};
template <std::size_t kSlotCount>
struct HeadBeforeWords : RealProtocol<kSlotCount> {
  static void publish(WrittenRecord record, const CheckedPayload& payload) {
    const std::uint64_t next = current_memory->load_own(*record.head) + 1;
    current_memory->fence_release();
    current_memory->store(*record.head, next, std::memory_order_release);
    for (std::size_t i = 0; i < payload.size(); ++i) {
      current_memory->store(slot_word<kSlotCount>(record, next, i), payload[i],
                            std::memory_order_relaxed);
    }
  }
};
template <std::size_t kSlotCount>
struct CommitBeforeRecords : RealProtocol<kSlotCount> {
  static void end_transaction(WeakMemory::Word& commit, std::uint64_t stamp,
                              const std::vector<std::pair<WrittenRecord, CheckedPayload>>& touched,
                              void (*publish)(WrittenRecord, const CheckedPayload&)) {
    shm::store_commit<CheckedWriterMemory>(commit, stamp);
    for (const auto& [record, payload] : touched) publish(record, payload);
  }
};
// K - 1 publishes of a record in one transaction leave no slot for the commit before it.
template <std::size_t kSlotCount>
struct RepeatedPublish : RealProtocol<kSlotCount> {
  static void publish(WrittenRecord record, const CheckedPayload& payload) {
    for (std::size_t i = 0; i < kSlotCount - 1; ++i) {
      shm::publish<CheckedWriterMemory, kSlotCount>(record, payload);
    }
  }
};
// Believes the slot that the next publish overwrites.
template <std::size_t kSlotCount>
struct OneSlotTooMany : RealProtocol<kSlotCount> {
  static ReadOutcome read_at(SeenRecord record, std::uint64_t commit, CheckedPayload& payload) {
    const std::uint64_t head = CheckedMemory::load(*record.head, std::memory_order_acquire);
    for (std::uint64_t back = 0; back <= kSlotCount - 1; ++back) {
      if (back >= head) return ReadOutcome::kAbsent;
      const std::uint64_t version = head - back;
      const auto* slot = record.slots + (version % kSlotCount) * record.slot_words;
      for (std::size_t i = 0; i < payload.size(); ++i) {
        payload[i] = CheckedMemory::load(slot[i], std::memory_order_relaxed);
      }
      CheckedMemory::fence(std::memory_order_acquire);
      const std::uint64_t now = CheckedMemory::load(*record.head, std::memory_order_relaxed);
      if (now - version > kSlotCount - 1) return ReadOutcome::kBusy;
      if (payload[0] <= commit) return ReadOutcome::kOk;
    }
    return ReadOutcome::kBusy;
  }
};

}  // namespace

TEMPLATE_TEST_CASE_SIG("no execution shows a reader anything but whole states of one moment", "",
                       ((std::size_t kSlotCount), kSlotCount), 3, 4) {
  CHECK(fault_of<RealProtocol<kSlotCount>>() == std::nullopt);
}

TEMPLATE_TEST_CASE_SIG("every planted mutant of the protocol is caught", "",
                       ((std::size_t kSlotCount), kSlotCount), 3, 4) {
  CHECK(fault_of<NoReleaseOfHead<kSlotCount>>().has_value());
  CHECK(fault_of<NoReleaseFence<kSlotCount>>().has_value());
  CHECK(fault_of<NoReleaseOfCommit<kSlotCount>>().has_value());
  CHECK(fault_of<NoAcquireOfHead<kSlotCount>>().has_value());
  CHECK(fault_of<NoAcquireFence<kSlotCount>>().has_value());
  CHECK(fault_of<NoAcquireOfCommit<kSlotCount>>().has_value());
  CHECK(fault_of<FenceAfterWords<kSlotCount>>().has_value());
  CHECK(fault_of<HeadBeforeWords<kSlotCount>>().has_value());
  CHECK(fault_of<CommitBeforeRecords<kSlotCount>>().has_value());
  CHECK(fault_of<RepeatedPublish<kSlotCount>>().has_value());
  CHECK(fault_of<OneSlotTooMany<kSlotCount>>().has_value());
}

}  // namespace vitrine::shm::testing
