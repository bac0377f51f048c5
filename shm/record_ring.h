// SPDX-License-Identifier: Apache-2.0
// RecordRing: the reader's side of a ring: EventRing and HistoryRing.
//
// Layout   `head` alone on a 128-byte line, then `count` entries (shm/ring_protocol.h).
// Reader   never waits. An entry that was copied while the writer may have been overwriting it is
//          dropped and counted as missed, exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "shm/records.h"
#include "shm/ring_protocol.h"
#include "shm/segment_layout_check.h"

namespace vitrine::shm {

template <class Entry>
class RecordRing {
 public:
  RecordRing() = default;
  RecordRing(const SectionPlace& place, const std::byte* segment)
      : place_(place), ring_(segment + place.offset_bytes) {}

  std::uint32_t count() const { return place_.count; }

  // Copies the entries after `sequence` that belong to transactions up to `commit`. Requires:
  // count() != 0.
  RingRange copy_after(std::uint64_t sequence, std::uint64_t commit,
                       std::span<Entry> out) const noexcept;

  // Sequence of the newest entry of transactions up to `commit`, zero when there is none; nothing
  // when the writer was faster and the caller should try again with a newer commit.
  std::optional<std::uint64_t> newest_at(std::uint64_t commit) const noexcept;

 private:
  RingWords<const std::uint64_t> words() const noexcept;

  SectionPlace place_;
  const std::byte* ring_ = nullptr;
};

using EventRing = RecordRing<Event>;
using HistoryRing = RecordRing<HistorySample>;

}  // namespace vitrine::shm
