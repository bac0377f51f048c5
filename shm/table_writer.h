// SPDX-License-Identifier: Apache-2.0
// TableWriter: the writer's side of one table: a private copy of every row, and which of them the
// open transaction has touched.
//
// Writer   edits the copies; flush() publishes each touched row once.
// Threads  one at a time, like SegmentWriter.
// Cost     flush() is one slot copy per touched row; no allocation, no system call.
// Why      a private copy makes a partial update cheap and lets several updates of one row in a
//          transaction become one publish, which the protocol requires.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "shm/extra_field.h"
#include "shm/layout.h"
#include "shm/protocol.h"

namespace vitrine::shm {

template <class Record>
class TableWriter {
 public:
  TableWriter() = default;
  // `extra_bytes`: what the engine's own fields add to each row.
  TableWriter(std::uint32_t count, std::uint32_t extra_bytes)
      : used_(std::min(count, 1U)),
        rows_(count),
        extra_words_(extra_bytes / 8),
        extras_(count * extra_words_),
        is_touched_(count, 0) {
    touched_.reserve(count);
    for (std::uint32_t row = 0; row < count; ++row) rows_[row].identity.row = row;
  }

  // Goes on in `section`, the table's first byte in a segment of zeros, with every row as it is.
  void move_to(std::byte* section) {
    section_ = section;
    if (used_ > 0) store_used();
    for (std::uint32_t row = 0; row < used_; ++row) {
      if (rows_[row].identity.stamp != 0) publish_row(row);
    }
  }

  // Whether of `count` rows from `first` on, as far as they are in use, the segment has the version
  // that was published last. Requires: no transaction is open.
  bool are_intact(std::uint32_t first, std::uint32_t count) const noexcept {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    const auto* line = reinterpret_cast<const std::uint64_t*>(section_);
    if (used_ > 0 && MappedMemory::load(line[1], kRelaxed) != used_) return false;
    for (std::uint32_t row = first; row < used_ && row - first < count; ++row) {
      const RecordWords<std::uint64_t> words = words_of(row);
      const std::uint64_t head = MappedMemory::load(*words.head, kRelaxed);
      const std::uint64_t stamp = rows_[row].identity.stamp;
      if ((head == 0) != (stamp == 0)) return false;
      const auto* newest = words.slots + head % kSlots * words.slot_words;
      if (stamp != 0 && MappedMemory::load(*newest, kRelaxed) != stamp) return false;
    }
    return true;
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(rows_.size()); }
  const Record& row(std::uint32_t row) const {
    assert(row < rows_.size());
    return rows_[row];
  }

  Record& edit(std::uint32_t row) {
    assert(row < rows_.size());
    if (!is_touched_[row]) {
      is_touched_[row] = 1;
      touched_.push_back(row);
    }
    return rows_[row];
  }

  std::span<std::uint64_t> edit_extra(std::uint32_t row) {
    edit(row);
    return extra_of(row);
  }

  // Publishes every touched row as part of transaction `stamp`.
  bool flush(std::uint64_t stamp) noexcept {
    const bool has_touched = !touched_.empty();
    for (const std::uint32_t row : touched_) {
      is_touched_[row] = 0;
      state_use_of(row);
      rows_[row].identity.stamp = stamp;
      publish_row(row);
    }
    touched_.clear();
    return has_touched;
  }

 private:
  static constexpr std::size_t kOwnWords = sizeof(Record) / 8;

  std::span<std::uint64_t> extra_of(std::uint32_t row) {
    return std::span(extras_).subspan(row * extra_words_, extra_words_);
  }

  RecordWords<std::uint64_t> words_of(std::uint32_t row) const {
    const std::size_t record_bytes = (kOwnWords + extra_words_) * 8;
    std::byte* record = section_ + row * record_stride_bytes(record_bytes);
    return {reinterpret_cast<std::uint64_t*>(record),
            reinterpret_cast<std::uint64_t*>(record + kLineBytes), slot_bytes(record_bytes) / 8};
  }

  void state_use_of(std::uint32_t row) noexcept {
    if (row < used_) return;
    used_ = row + 1;
    store_used();
  }
  void store_used() noexcept {
    auto* line = reinterpret_cast<std::uint64_t*>(section_);
    store_rows_used<MappedMemory>(line[1], used_);
  }

  void publish_row(std::uint32_t row) noexcept {
    std::uint64_t words[kOwnWords + kExtraBytesMax / 8];
    std::memcpy(words, &rows_[row], sizeof(Record));
    std::ranges::copy(extra_of(row), words + kOwnWords);
    publish<MappedMemory>(words_of(row), std::span(words).first(kOwnWords + extra_words_));
  }

  std::byte* section_ = nullptr;
  // Rows up to the highest that was ever touched, at least 1: from 0, which tells nothing, a reader
  // would look at every row of a table that was never used.
  std::uint32_t used_ = 0;
  std::vector<Record> rows_;
  std::size_t extra_words_ = 0;
  std::vector<std::uint64_t> extras_;
  std::vector<std::uint8_t> is_touched_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace vitrine::shm
