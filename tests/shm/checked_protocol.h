// SPDX-License-Identifier: Apache-2.0
// The protocol of shm/protocol.h and shm/ring_protocol.h on WeakMemory, as production runs
// it. Mutants replace one of its parts.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "shm/protocol.h"
#include "shm/ring_protocol.h"
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

// Two words as well: a torn entry has the stamp of another sequence.
struct CheckedEntry {
  std::uint64_t stamp;
  std::uint64_t sequence;
};
using WrittenRing = RingWords<WeakMemory::Word>;
using SeenRing = RingWords<const WeakMemory::Word>;

// What the end of one transaction has to store, and where.
struct CheckedTransaction {
  std::uint64_t stamp;
  std::vector<std::pair<WrittenRecord, CheckedPayload>> touched;
  std::vector<std::uint64_t> appended;  // sequences
  std::uint64_t rows_used;
  WeakMemory::Word& commit;
  WeakMemory::Word& used;
  WrittenRing ring;
};

// Where a snapshot begins.
struct CheckedStart {
  std::uint64_t commit;
  std::uint64_t rows_used;
};

template <std::size_t kSlotCount>
struct RealProtocol {
  static constexpr std::size_t kSlots = kSlotCount;

  // The writer. `Mutant` is the protocol itself or what replaces a part of it.
  template <class Mutant>
  static void run(const CheckedTransaction& transaction) {
    append_all<Mutant>(transaction);
    store_used(transaction);
    publish_all<Mutant>(transaction);
    Mutant::end(transaction);
  }
  template <class Mutant>
  static void append_all(const CheckedTransaction& transaction) {
    for (const std::uint64_t sequence : transaction.appended) {
      Mutant::append(transaction.ring, sequence, {transaction.stamp, sequence});
    }
  }
  template <class Mutant>
  static void publish_all(const CheckedTransaction& transaction) {
    for (const auto& [record, payload] : transaction.touched) Mutant::publish(record, payload);
  }
  static void publish(WrittenRecord record, const CheckedPayload& payload) {
    shm::publish<CheckedWriterMemory, kSlotCount>(record, payload);
  }
  static void append(WrittenRing ring, std::uint64_t sequence, const CheckedPayload& entry) {
    append_entry<CheckedWriterMemory>(ring, sequence, entry);
  }
  static void store_used(const CheckedTransaction& transaction) {
    store_rows_used<CheckedWriterMemory>(transaction.used, transaction.rows_used);
  }
  static void end(const CheckedTransaction& transaction) {
    store_commit<CheckedWriterMemory>(transaction.commit, transaction.stamp);
  }

  // The reader.
  static CheckedStart start(const WeakMemory::Word& commit, const WeakMemory::Word& used) {
    const std::uint64_t at = load_commit<CheckedMemory>(commit);
    return {at, load_rows_used<CheckedMemory>(used)};
  }
  static ReadOutcome read_at(SeenRecord record, std::uint64_t commit, CheckedPayload& payload) {
    return shm::read_at<CheckedMemory, kSlotCount>(record, commit, payload);
  }
  static std::optional<std::uint64_t> newest_at(SeenRing ring, std::uint64_t commit) {
    return newest_entry<CheckedMemory>(ring, commit);
  }
  static RingRange copy_after(SeenRing ring, std::uint64_t sequence, std::uint64_t commit,
                              std::span<CheckedEntry> out) {
    return copy_entries<CheckedMemory, CheckedEntry>(ring, sequence, commit, out);
  }
};

}  // namespace vitrine::shm::testing
