// SPDX-License-Identifier: Apache-2.0
// How an entry is appended to a ring in shared memory, and how a ring is read.
//
// Layout   `head` is the number of entries appended so far; the entry with sequence s (from 1)
//          lies in slot (s - 1) mod count. An entry begins with the commit it belongs to (stamp)
//          and its sequence.
// Writer   one at a time, inside transactions. Wait-free.
// Reader   bounded: at most one look at each slot. What may have been overwritten while it was
//          copied is dropped.
// Crash    `head` names whole entries only; those of a transaction that was not committed have a
//          stamp above `commit`.
// Memory order
//   E1 fence(release) before the words   pairs with E4: a reader that sees any word of entry
//                                        s + count sees head >= s + count - 1 and drops its copy
//   E2 head.store(release)               pairs with E3: a reader that sees head s sees entry s
//   E3 head.load(acquire)
//   E4 fence(acquire) between the words and the second load of head
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>

namespace vitrine::shm {

// A ring as the protocol sees it. Requires for reading: count != 0.
template <class Word>
struct RingWords {
  Word* head;
  Word* slots;
  std::size_t slot_words;   // distance between slots
  std::size_t entry_words;  // of them used
  std::uint64_t count;

  Word* slot(std::uint64_t sequence) const { return slots + (sequence - 1) % count * slot_words; }
};

// What copy_entries() left in `out`.
struct RingRange {
  std::size_t skipped = 0;   // entries of `out` before the first good one
  std::size_t count = 0;     // good ones
  std::uint64_t missed = 0;  // entries between the one asked for and the first good one
  bool is_damaged = false;   // an entry was not the one that belongs there
};

// Stores the words of entry `sequence` where readers do not look yet.
template <class Memory>
void store_entry(RingWords<typename Memory::Word> ring, std::uint64_t sequence,
                 std::span<const std::uint64_t> entry) noexcept {
  auto* slot = ring.slot(sequence);
  for (std::size_t i = 0; i < entry.size(); ++i) {
    Memory::store(slot[i], entry[i], Memory::kWordStore);
  }
}

// Appends entry `sequence`. Requires: the caller is the only writer, and the ring has
// `sequence` - 1 entries.
template <class Memory>
void append_entry(RingWords<typename Memory::Word> ring, std::uint64_t sequence,
                  std::span<const std::uint64_t> entry) noexcept {
  Memory::fence(std::memory_order_release);  // E1
  store_entry<Memory>(ring, sequence, entry);
  Memory::store(*ring.head, sequence, std::memory_order_release);  // E2
}

// Copies what the ring has of an entry; zero beyond it, in a ring of an older minor version.
template <class Memory, class Entry>
Entry copy_entry(RingWords<const typename Memory::Word> ring, std::uint64_t sequence) noexcept {
  constexpr std::size_t kWords = sizeof(Entry) / 8;
  std::uint64_t words[kWords] = {};
  const auto* slot = ring.slot(sequence);
  for (std::size_t i = 0; i < std::min(kWords, ring.entry_words); ++i) {
    words[i] = Memory::load(slot[i], Memory::kWordLoad);
  }
  Entry entry;
  std::memcpy(static_cast<void*>(&entry), words, sizeof(entry));
  return entry;
}

// The slot after the one that the writer may be filling holds an old entry, or none. A later one
// means that `head` is not what the writer left.
template <class Memory, class Entry>
bool is_head_behind(RingWords<const typename Memory::Word> ring, std::uint64_t head) noexcept {
  if (ring.count < 3 || copy_entry<Memory, Entry>(ring, head + 2).sequence <= head) return false;
  Memory::fence(std::memory_order_acquire);
  return Memory::load(*ring.head, std::memory_order_relaxed) == head;
}

// Whether an entry only keeps the place of one that was lost: all behind its sequence is zero.
template <class Entry>
bool is_lost_entry(const Entry& entry) noexcept {
  static_assert(sizeof(Entry) % 8 == 0 && sizeof(Entry) > 16);
  std::uint64_t words[sizeof(Entry) / 8];
  std::memcpy(words, &entry, sizeof(entry));
  return std::all_of(words + 2, std::end(words), [](std::uint64_t word) { return word == 0; });
}

// Copies the entries after `sequence` that belong to transactions up to `commit`.
template <class Memory, class Entry>
RingRange copy_entries(RingWords<const typename Memory::Word> ring, std::uint64_t sequence,
                       std::uint64_t commit, std::span<Entry> out) noexcept {
  // With `head` entries appended the writer may already be overwriting entry head + 1 - count.
  const auto oldest_at = [count = ring.count](std::uint64_t head) {
    return head >= count ? head - count + 2 : std::uint64_t{1};
  };
  RingRange range;
  const std::uint64_t head = Memory::load(*ring.head, std::memory_order_acquire);  // E3
  range.is_damaged = is_head_behind<Memory, Entry>(ring, head);
  if (sequence >= head || range.is_damaged) return range;
  const std::uint64_t first = std::max(sequence + 1, oldest_at(head));
  std::size_t copied = 0;
  while (copied < out.size() && first + copied <= head) {
    out[copied] = copy_entry<Memory, Entry>(ring, first + copied);
    ++copied;
  }
  Memory::fence(std::memory_order_acquire);  // E4
  const std::uint64_t oldest = oldest_at(Memory::load(*ring.head, std::memory_order_relaxed));
  range.skipped = oldest > first ? std::min<std::uint64_t>(oldest - first, copied) : 0;
  range.missed = first + range.skipped - (sequence + 1);
  bool is_committed = true;
  for (std::size_t i = range.skipped; i < copied; ++i) {
    // Every entry up to head is whole, also those of a transaction that is still open.
    range.is_damaged |= out[i].sequence != first + i;
    is_committed &= out[i].stamp <= commit;
    if (is_committed) ++range.count;
  }
  return range;
}

// Sequence of the newest entry of transactions up to `commit`, zero when there is none; nothing
// when the writer overwrote what had to be looked at. While a transaction is open that has filled
// the whole ring by itself, the newest entry that it has overwritten. Requires: `commit` was
// loaded before.
template <class Memory>
std::optional<std::uint64_t> newest_entry(RingWords<const typename Memory::Word> ring,
                                          std::uint64_t commit) noexcept {
  const auto stamp_of = [&](std::uint64_t sequence) {
    return Memory::load(*ring.slot(sequence), Memory::kWordLoad);
  };
  const std::uint64_t head = Memory::load(*ring.head, std::memory_order_acquire);  // E3
  if (head == 0) return 0;
  const std::uint64_t newest_stamp = stamp_of(head);
  if (newest_stamp <= commit) return head;
  const std::uint64_t oldest = head - std::min<std::uint64_t>(head, ring.count - 1);
  std::uint64_t sequence = head - 1;
  while (sequence > oldest && stamp_of(sequence) > commit) --sequence;
  if (sequence == oldest && oldest != 0 && newest_stamp != commit + 1) return std::nullopt;
  // An overwritten slot has a stamp above `commit` as well, whatever it had before.
  Memory::fence(std::memory_order_acquire);  // E4
  const std::uint64_t now = Memory::load(*ring.head, std::memory_order_relaxed);
  return now - sequence < ring.count ? std::optional(sequence) : std::nullopt;
}

}  // namespace vitrine::shm
