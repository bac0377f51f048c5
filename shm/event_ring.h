// SPDX-License-Identifier: Apache-2.0
// EventRing: the reader's side of the event ring.
//
// Layout   `head` alone on a 128-byte line, then `count` events (shm/event_ring_protocol.h).
// Reader   never waits. An event that was copied while the writer may have been overwriting it is
//          dropped and counted as missed, exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "shm/event_ring_protocol.h"
#include "shm/records.h"
#include "shm/segment_layout_check.h"

namespace vitrine::shm {

class EventRing {
 public:
  EventRing() = default;
  EventRing(const SectionPlace& place, const std::byte* segment)
      : place_(place), ring_(segment + place.offset_bytes) {}

  std::uint32_t count() const { return place_.count; }

  // Copies the events after `sequence` that belong to transactions up to `commit`. Requires:
  // count() != 0.
  RingRange copy_after(std::uint64_t sequence, std::uint64_t commit,
                       std::span<Event> out) const noexcept;

  // Sequence of the newest event of transactions up to `commit`, zero when there is none; nothing
  // when the writer was faster and the caller should try again with a newer commit.
  std::optional<std::uint64_t> newest_at(std::uint64_t commit) const noexcept;

 private:
  RingWords<const std::uint64_t> words() const noexcept;

  SectionPlace place_;
  const std::byte* ring_ = nullptr;
};

}  // namespace vitrine::shm
