// SPDX-License-Identifier: Apache-2.0
// The sequence lock over versions: how a record is published and how it is read.
//
// Layout   a record is `head` (number of publishes) and kSlots slots; slot n mod kSlots holds
//          publish n. The first payload word is `stamp`, the commit it belongs to.
// Writer   one at a time (the engine's state mutex). Wait-free: no lock, no system call.
// Reader   any number, from a read-only mapping. Bounded: at most kSlots - 1 copies a call.
// Crash    a writer killed at any instruction leaves every published version whole, since `head`
//          moves only after the words it names; there is nothing to repair.
// Memory order
//   W1 fence(release) before the words   pairs with R2: a reader that sees any word of publish
//                                        n + kSlots sees head >= n + kSlots - 1 and drops its copy
//   W2 head.store(release)               pairs with R1: a reader that sees head n sees n's words
//   W3 commit.store(release)             pairs with R3: a reader that sees commit c sees what
//                                        was published up to c
//   R1 head.load(acquire)
//   R2 fence(acquire) between the words and the second load of head
//   R3 commit.load(acquire)
// Why      an odd/even sequence lock is left odd for ever by a killed writer; this one has no such
//          state (docs/decisions/0002-versions-not-odd-even.md).
// Source   H.-J. Boehm, "Can seqlocks get along with programming language memory models?",
//          MSPC 2012, for the fences and the word-wise atomic copies.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "shm/layout.h"

namespace vitrine::shm {

// The memory the protocol runs on in production. A checker supplies another with the same names.
struct MappedMemory {
  using Word = std::uint64_t;
  static_assert(std::atomic_ref<Word>::is_always_lock_free, "words must be address-free");

  // Loads never write, so a const word of a read-only mapping may be cast for atomic_ref
  // (which takes a const referent only from C++26 on).
  static Word load(const Word& word, std::memory_order order) noexcept {
    return std::atomic_ref<Word>(const_cast<Word&>(word)).load(order);
  }
  static void store(Word& word, Word value, std::memory_order order) noexcept {
    std::atomic_ref<Word>(word).store(value, order);
  }
#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer does not model fences: its build orders every word instead.
  static constexpr std::memory_order kWordLoad = std::memory_order_acquire;
  static constexpr std::memory_order kWordStore = std::memory_order_release;
  static void fence(std::memory_order) noexcept {}
#else
  static constexpr std::memory_order kWordLoad = std::memory_order_relaxed;
  static constexpr std::memory_order kWordStore = std::memory_order_relaxed;
  static void fence(std::memory_order order) noexcept { std::atomic_thread_fence(order); }
#endif
};

// A row as the protocol sees it. `slot_words` is the distance between slots.
template <class Word>
struct RecordWords {
  Word* head;
  Word* slots;
  std::size_t slot_words;
};

enum class ReadOutcome { kOk, kAbsent, kBusy };

inline constexpr std::uint64_t kAnyCommit = ~std::uint64_t{0};

// Words copied in one step of a copy. Written out, because compilers keep a loop of atomics as it
// is, and the branch mispredicted at its end costs more than the copy.
inline constexpr std::size_t kStepWords = 8;

// Calls copy(i) for every i below `count`, in order.
template <class CopyWord>
[[gnu::always_inline]] inline void for_each_word(std::size_t count, CopyWord copy) noexcept {
  const std::size_t whole_steps = count / kStepWords;
  for (std::size_t step = 0; step < whole_steps; ++step) {
    [&]<std::size_t... kWord>(std::index_sequence<kWord...>) __attribute__((always_inline)) {
      (copy(step * kStepWords + kWord), ...);
    }
    (std::make_index_sequence<kStepWords>{});
  }
  for (std::size_t rest = 0; rest < count % kStepWords; ++rest) {
    copy(whole_steps * kStepWords + rest);
  }
}

// Publishes `payload`, whose first word is the stamp of the open transaction. Requires: the
// caller is the only writer, and publishes a record at most once in a transaction.
template <class Memory, std::size_t kSlotCount = kSlots>
[[gnu::always_inline]] inline void publish(RecordWords<typename Memory::Word> record,
                                           std::span<const std::uint64_t> payload) noexcept {
  const std::uint64_t next = Memory::load(*record.head, std::memory_order_relaxed) + 1;
  Memory::fence(std::memory_order_release);  // W1
  auto* slot = record.slots + (next % kSlotCount) * record.slot_words;
  for_each_word(payload.size(),
                [&](std::size_t i) { Memory::store(slot[i], payload[i], Memory::kWordStore); });
  Memory::store(*record.head, next, std::memory_order_release);  // W2
}

// Copies the newest version whose stamp is at most `commit` to `payload`. kAbsent: the record did
// not exist at that commit. kBusy: the writer lapped the reader; `payload` is then not meaningful.
template <class Memory, std::size_t kSlotCount = kSlots>
[[gnu::always_inline]] inline ReadOutcome read_at(RecordWords<const typename Memory::Word> record,
                                                  std::uint64_t commit,
                                                  std::span<std::uint64_t> payload) noexcept {
  const std::uint64_t head = Memory::load(*record.head, std::memory_order_acquire);  // R1
  for (std::uint64_t back = 0; back <= kSlotCount - 2; ++back) {
    if (back >= head) return ReadOutcome::kAbsent;
    const std::uint64_t version = head - back;
    const auto* slot = record.slots + (version % kSlotCount) * record.slot_words;
    for_each_word(payload.size(),
                  [&](std::size_t i) { payload[i] = Memory::load(slot[i], Memory::kWordLoad); });
    Memory::fence(std::memory_order_acquire);  // R2
    if (Memory::load(*record.head, std::memory_order_relaxed) - version > kSlotCount - 2) {
      return ReadOutcome::kBusy;
    }
    if (payload[0] <= commit) return ReadOutcome::kOk;
  }
  return ReadOutcome::kBusy;
}

// Says how many rows of a table were ever used. Requires: stored before the `commit` that uses
// them. Relaxed, because the release of that commit orders it (W3).
template <class Memory>
void store_rows_used(typename Memory::Word& used, std::uint64_t count) noexcept {
  Memory::store(used, count, std::memory_order_relaxed);
}

// Covers every row of the commit that was loaded before (R3). Requires: such a load.
template <class Memory>
std::uint64_t load_rows_used(const typename Memory::Word& used) noexcept {
  return Memory::load(used, std::memory_order_relaxed);
}

// Ends the transaction `stamp`: everything that was published with it is now the state.
template <class Memory>
void store_commit(typename Memory::Word& commit, std::uint64_t stamp) noexcept {
  Memory::store(commit, stamp, std::memory_order_release);  // W3
}

// The newest complete transaction; what read_at() then finds at it is one moment.
template <class Memory>
std::uint64_t load_commit(const typename Memory::Word& commit) noexcept {
  return Memory::load(commit, std::memory_order_acquire);  // R3
}

}  // namespace vitrine::shm
