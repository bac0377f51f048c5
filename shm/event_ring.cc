// SPDX-License-Identifier: Apache-2.0
#include "shm/event_ring.h"

#include "shm/protocol.h"

namespace vitrine::shm {

RingWords<const std::uint64_t> EventRing::words() const noexcept {
  return {reinterpret_cast<const std::uint64_t*>(ring_),
          reinterpret_cast<const std::uint64_t*>(ring_ + kLineBytes), place_.stride_bytes / 8,
          place_.record_bytes / 8, place_.count};
}

RingRange EventRing::copy_after(std::uint64_t sequence, std::uint64_t commit,
                                std::span<Event> out) const noexcept {
  return copy_entries<MappedMemory, Event>(words(), sequence, commit, out);
}

std::optional<std::uint64_t> EventRing::newest_at(std::uint64_t commit) const noexcept {
  if (place_.count == 0) return 0;
  return newest_entry<MappedMemory>(words(), commit);
}

}  // namespace vitrine::shm
