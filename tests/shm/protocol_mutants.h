// SPDX-License-Identifier: Apache-2.0
// Protocols with one fault each, which the exhaustive check must find.
#pragma once

#include "tests/shm/checked_protocol.h"

namespace vitrine::shm::testing {

// A policy whose loads and stores of one order are weaker.
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
using NoRelease = Weakened<std::memory_order_release, CheckedWriterMemory>;
using NoAcquire = Weakened<std::memory_order_acquire, CheckedMemory>;

// Records.

template <std::size_t kSlotCount>
struct NoReleaseOfHead : RealProtocol<kSlotCount> {
  static void publish(WrittenRecord record, const CheckedPayload& payload) {
    shm::publish<NoRelease, kSlotCount>(record, payload);
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
  static void end(const CheckedTransaction& transaction) {
    store_commit<NoRelease>(transaction.commit, transaction.stamp);
  }
};
template <std::size_t kSlotCount>
struct NoAcquireOfHead : RealProtocol<kSlotCount> {
  static ReadOutcome read_at(SeenRecord record, std::uint64_t commit, CheckedPayload& payload) {
    return shm::read_at<NoAcquire, kSlotCount>(record, commit, payload);
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
  static CheckedStart start(const WeakMemory::Word& commit, const WeakMemory::Word& used) {
    const std::uint64_t at = load_commit<NoAcquire>(commit);
    return {at, load_rows_used<CheckedMemory>(used)};
  }
};

inline void store_words(WeakMemory::Word* slot, const CheckedPayload& payload) {
  for (std::size_t i = 0; i < payload.size(); ++i) {
    current_memory->store(slot[i], payload[i], std::memory_order_relaxed);
  }
}

template <std::size_t kSlotCount>
struct FenceAfterWords : RealProtocol<kSlotCount> {
  static void publish(WrittenRecord record, const CheckedPayload& payload) {
    const std::uint64_t next = current_memory->load_own(*record.head) + 1;
    store_words(record.slots + next % kSlotCount * record.slot_words, payload);
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
    store_words(record.slots + next % kSlotCount * record.slot_words, payload);
  }
};
template <std::size_t kSlotCount>
struct CommitBeforeRecords : RealProtocol<kSlotCount> {
  template <class Mutant>
  static void run(const CheckedTransaction& transaction) {
    RealProtocol<kSlotCount>::template append_all<Mutant>(transaction);
    Mutant::store_used(transaction);
    Mutant::end(transaction);
    RealProtocol<kSlotCount>::template publish_all<Mutant>(transaction);
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

// How many rows were ever used.

template <std::size_t kSlotCount>
struct UsedAfterCommit : RealProtocol<kSlotCount> {
  template <class Mutant>
  static void run(const CheckedTransaction& transaction) {
    RealProtocol<kSlotCount>::template append_all<Mutant>(transaction);
    RealProtocol<kSlotCount>::template publish_all<Mutant>(transaction);
    Mutant::end(transaction);
    Mutant::store_used(transaction);
  }
};
template <std::size_t kSlotCount>
struct UsedBeforeCommitOfReader : RealProtocol<kSlotCount> {
  static CheckedStart start(const WeakMemory::Word& commit, const WeakMemory::Word& used) {
    const std::uint64_t rows_used = load_rows_used<CheckedMemory>(used);
    return {load_commit<CheckedMemory>(commit), rows_used};
  }
};

// The event ring.

template <std::size_t kSlotCount>
struct AppendNoRelease : RealProtocol<kSlotCount> {
  static void append(WrittenRing ring, std::uint64_t sequence, const CheckedPayload& entry) {
    append_entry<NoRelease>(ring, sequence, entry);
  }
};
template <std::size_t kSlotCount>
struct AppendNoFence : RealProtocol<kSlotCount> {
  static void append(WrittenRing ring, std::uint64_t sequence, const CheckedPayload& entry) {
    append_entry<Unfenced<CheckedWriterMemory>>(ring, sequence, entry);
  }
};
template <std::size_t kSlotCount>
struct AppendFenceAfterWords : RealProtocol<kSlotCount> {
  static void append(WrittenRing ring, std::uint64_t sequence, const CheckedPayload& entry) {
    store_words(ring.slot(sequence), entry);
    current_memory->fence_release();
    current_memory->store(*ring.head, sequence, std::memory_order_release);
  }
};
template <std::size_t kSlotCount>
struct AppendHeadBeforeWords : RealProtocol<kSlotCount> {
  static void append(WrittenRing ring, std::uint64_t sequence, const CheckedPayload& entry) {
    current_memory->fence_release();
    current_memory->store(*ring.head, sequence, std::memory_order_release);
    store_words(ring.slot(sequence), entry);
  }
};
template <std::size_t kSlotCount>
struct AppendAfterCommit : RealProtocol<kSlotCount> {
  template <class Mutant>
  static void run(const CheckedTransaction& transaction) {
    Mutant::store_used(transaction);
    RealProtocol<kSlotCount>::template publish_all<Mutant>(transaction);
    Mutant::end(transaction);
    RealProtocol<kSlotCount>::template append_all<Mutant>(transaction);
  }
};
template <std::size_t kSlotCount>
struct NewestNoAcquire : RealProtocol<kSlotCount> {
  static std::optional<std::uint64_t> newest_at(SeenRing ring, std::uint64_t commit) {
    return newest_entry<NoAcquire>(ring, commit);
  }
};
template <std::size_t kSlotCount>
struct NewestNoFence : RealProtocol<kSlotCount> {
  static std::optional<std::uint64_t> newest_at(SeenRing ring, std::uint64_t commit) {
    return newest_entry<Unfenced<CheckedMemory>>(ring, commit);
  }
};
// Takes what it has not seen for older than the commit, and allows for `kTooMany` slots more when
// it looks again whether it was lapped.
template <std::size_t kSlotCount, std::uint64_t kTooMany>
struct NewestTooLong : RealProtocol<kSlotCount> {
  static std::optional<std::uint64_t> newest_at(SeenRing ring, std::uint64_t commit) {
    const std::uint64_t head = CheckedMemory::load(*ring.head, std::memory_order_acquire);
    const std::uint64_t kept = std::min(head, ring.count - 1);
    std::uint64_t sequence = head;
    while (sequence > head - kept &&
           CheckedMemory::load(*ring.slot(sequence), std::memory_order_relaxed) > commit) {
      --sequence;
    }
    CheckedMemory::fence(std::memory_order_acquire);
    const std::uint64_t now = CheckedMemory::load(*ring.head, std::memory_order_relaxed);
    if (now - sequence >= ring.count + kTooMany) return std::nullopt;
    return sequence;
  }
};
template <std::size_t kSlotCount>
struct FollowNoAcquire : RealProtocol<kSlotCount> {
  static RingRange copy_after(SeenRing ring, std::uint64_t sequence, std::uint64_t commit,
                              std::span<CheckedEntry> out) {
    return copy_entries<NoAcquire, CheckedEntry>(ring, sequence, commit, out);
  }
};
template <std::size_t kSlotCount>
struct FollowNoFence : RealProtocol<kSlotCount> {
  static RingRange copy_after(SeenRing ring, std::uint64_t sequence, std::uint64_t commit,
                              std::span<CheckedEntry> out) {
    return copy_entries<Unfenced<CheckedMemory>, CheckedEntry>(ring, sequence, commit, out);
  }
};
template <std::size_t kSlotCount>
struct FollowPastCommit : RealProtocol<kSlotCount> {
  static RingRange copy_after(SeenRing ring, std::uint64_t sequence, std::uint64_t,
                              std::span<CheckedEntry> out) {
    return copy_entries<CheckedMemory, CheckedEntry>(ring, sequence, kAnyCommit, out);
  }
};
// Believes the slot that the next append overwrites.
template <std::size_t kSlotCount>
struct FollowOneTooMany : RealProtocol<kSlotCount> {
  static RingRange copy_after(SeenRing ring, std::uint64_t sequence, std::uint64_t commit,
                              std::span<CheckedEntry> out) {
    RingRange range;
    const auto oldest_at = [&](std::uint64_t head) {
      return head >= ring.count ? head - ring.count + 1 : std::uint64_t{1};
    };
    const std::uint64_t head = CheckedMemory::load(*ring.head, std::memory_order_acquire);
    const std::uint64_t first = std::max(sequence + 1, oldest_at(head));
    std::uint64_t copied = 0;
    for (; first + copied <= head; ++copied) {
      out[copied] = copy_entry<CheckedMemory, CheckedEntry>(ring, first + copied);
    }
    CheckedMemory::fence(std::memory_order_acquire);
    const std::uint64_t now = CheckedMemory::load(*ring.head, std::memory_order_relaxed);
    if (copied == 0) return range;
    range.skipped = oldest_at(now) > first ? std::min(oldest_at(now) - first, copied) : 0;
    range.missed = first + range.skipped - (sequence + 1);
    while (range.skipped + range.count < copied &&
           out[range.skipped + range.count].stamp <= commit) {
      ++range.count;
    }
    return range;
  }
};

}  // namespace vitrine::shm::testing
