// SPDX-License-Identifier: Apache-2.0
#include "shm/record_ring.h"

#include <algorithm>
#include <cstring>

#include "shm/protocol.h"

namespace vitrine::shm {

template <class Entry>
std::uint64_t RecordRing<Entry>::load_head(std::memory_order order) const noexcept {
  return MappedMemory::load(*reinterpret_cast<const std::uint64_t*>(ring_), order);
}

template <class Entry>
const std::uint64_t* RecordRing<Entry>::words_of(std::uint64_t sequence) const noexcept {
  const std::size_t slot = (sequence - 1) % place_.count;
  return reinterpret_cast<const std::uint64_t*>(ring_ + kLineBytes + slot * place_.stride_bytes);
}

template <class Entry>
Entry RecordRing<Entry>::copy(std::uint64_t sequence) const noexcept {
  std::uint64_t words[sizeof(Entry) / 8] = {};
  const std::uint64_t* from = words_of(sequence);
  const std::size_t count = std::min<std::size_t>(place_.record_bytes, sizeof(Entry)) / 8;
  for (std::size_t i = 0; i < count; ++i) {
    words[i] = MappedMemory::load(from[i], MappedMemory::kWordLoad);
  }
  Entry entry;
  std::memcpy(static_cast<void*>(&entry), words, sizeof(entry));
  return entry;
}

// The slot after the one that the writer may be filling holds an old entry, or none. A later one
// means that `head` is not what the writer left.
template <class Entry>
bool RecordRing<Entry>::is_head_behind(std::uint64_t head) const noexcept {
  if (place_.count < 3 || copy(head + 2).sequence <= head) return false;
  MappedMemory::fence(std::memory_order_acquire);
  return load_head(std::memory_order_relaxed) == head;
}

template <class Entry>
typename RecordRing<Entry>::Range RecordRing<Entry>::copy_after(
    std::uint64_t sequence, std::uint64_t commit, std::span<Entry> out) const noexcept {
  // With `head` entries appended the writer may already be overwriting entry head + 1 - count.
  const auto oldest_at = [count = place_.count](std::uint64_t head) {
    return head >= count ? head - count + 2 : std::uint64_t{1};
  };
  Range range;
  const std::uint64_t head = load_head(std::memory_order_acquire);
  range.is_damaged = is_head_behind(head);
  if (sequence >= head || range.is_damaged) return range;
  const std::uint64_t first = std::max(sequence + 1, oldest_at(head));
  std::size_t copied = 0;
  while (copied < out.size() && first + copied <= head) {
    out[copied] = copy(first + copied);
    ++copied;
  }
  MappedMemory::fence(std::memory_order_acquire);
  const std::uint64_t oldest = oldest_at(load_head(std::memory_order_relaxed));
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

template <class Entry>
std::uint64_t RecordRing<Entry>::newest_at(std::uint64_t commit) const noexcept {
  if (place_.count == 0) return 0;
  const std::uint64_t head = load_head(std::memory_order_acquire);
  const std::uint64_t kept = std::min<std::uint64_t>(head, place_.count - 1);
  std::uint64_t sequence = head;
  while (sequence > head - kept &&
         MappedMemory::load(*words_of(sequence), MappedMemory::kWordLoad) > commit) {
    --sequence;
  }
  return sequence;
}

template class RecordRing<Event>;
template class RecordRing<HistorySample>;

}  // namespace vitrine::shm
