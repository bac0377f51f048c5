// SPDX-License-Identifier: Apache-2.0
#include "shm/record_ring.h"

#include "shm/protocol.h"

namespace vitrine::shm {

template <class Entry>
RingWords<const std::uint64_t> RecordRing<Entry>::words() const noexcept {
  return {reinterpret_cast<const std::uint64_t*>(ring_),
          reinterpret_cast<const std::uint64_t*>(ring_ + kLineBytes), place_.stride_bytes / 8,
          place_.record_bytes / 8, place_.count};
}

template <class Entry>
RingRange RecordRing<Entry>::copy_after(std::uint64_t sequence, std::uint64_t commit,
                                        std::span<Entry> out) const noexcept {
  return copy_entries<MappedMemory, Entry>(words(), sequence, commit, out);
}

template <class Entry>
std::optional<std::uint64_t> RecordRing<Entry>::newest_at(std::uint64_t commit) const noexcept {
  if (place_.count == 0) return 0;
  return newest_entry<MappedMemory>(words(), commit);
}

template class RecordRing<Event>;
template class RecordRing<HistorySample>;

}  // namespace vitrine::shm
