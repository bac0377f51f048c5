// SPDX-License-Identifier: Apache-2.0
// RingWriter: the writer's side of a ring (shm/record_ring.h).
//
// Writer   append() stores an entry and then moves `head`; readers take it once its transaction
//          has ended.
// Threads  one at a time, like SegmentWriter.
// Crash    an entry is overwritten only after `head` said that it may be, so readers of the old
//          one drop it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "shm/layout.h"
#include "shm/protocol.h"
#include "shm/ring_protocol.h"

namespace vitrine::shm {

template <class Entry>
class RingWriter {
 public:
  RingWriter() = default;
  explicit RingWriter(std::uint32_t count) : count_(count) {}

  // Goes on in `section`, the ring's first byte in a segment of zeros, with the entries that the
  // ring has now. They are read from the old segment, which others may have damaged: an entry that
  // cannot be the one that was stored is lost. It keeps its place, so that followers stay in step,
  // as one that is zero behind its stamp, that of the last entry before it that was not lost.
  void move_to(std::byte* section, std::uint64_t commit) {
    const std::uint64_t* const old_entries = entries_;
    head_ = reinterpret_cast<std::uint64_t*>(section);
    entries_ = reinterpret_cast<std::uint64_t*>(section + kLineBytes);
    const std::uint64_t kept = appended_ < count_ ? appended_ : count_;
    std::uint64_t last_stamp = 0;
    for (std::uint64_t i = appended_ - kept; i < appended_; ++i) {
      Entry entry;
      std::memcpy(static_cast<void*>(&entry), old_entries + i % count_ * kEntryWords,
                  sizeof(entry));
      const bool is_kept =
          entry.sequence == i + 1 && entry.stamp >= last_stamp && entry.stamp <= commit;
      if (!is_kept) entry = Entry{};
      if (is_kept) last_stamp = entry.stamp;
      entry.stamp = last_stamp;
      entry.sequence = i + 1;
      store_entry<MappedMemory>(words(), entry.sequence, std::bit_cast<EntryWords>(entry));
    }
    last_stamp_ = last_stamp;
    MappedMemory::store(*head_, appended_, std::memory_order_release);
  }

  // Whether the segment's head and newest entry are what was stored last. Requires: no transaction
  // is open.
  bool is_intact() const noexcept {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    if (MappedMemory::load(*head_, kRelaxed) != appended_) return false;
    if (appended_ == 0) return true;
    const std::uint64_t* const newest = words().slot(appended_);
    return MappedMemory::load(newest[0], kRelaxed) == last_stamp_ &&
           MappedMemory::load(newest[1], kRelaxed) == appended_;
  }

  // Fills in stamp and sequence.
  void append(Entry entry, std::uint64_t stamp) noexcept {
    entry.stamp = stamp;
    last_stamp_ = stamp;
    entry.sequence = ++appended_;
    append_entry<MappedMemory>(words(), entry.sequence, std::bit_cast<EntryWords>(entry));
  }

 private:
  static constexpr std::size_t kEntryWords = sizeof(Entry) / 8;
  using EntryWords = std::array<std::uint64_t, kEntryWords>;

  RingWords<std::uint64_t> words() const noexcept {
    return {head_, entries_, kEntryWords, kEntryWords, count_};
  }

  std::uint32_t count_ = 0;
  std::uint64_t appended_ = 0;
  std::uint64_t last_stamp_ = 0;  // of the newest entry
  std::uint64_t* head_ = nullptr;
  std::uint64_t* entries_ = nullptr;
};

}  // namespace vitrine::shm
