// SPDX-License-Identifier: Apache-2.0
// FramePlayer: publishes the frames of a recording in a segment's memory.
//
// Writer   each frame is one transaction: rows by the protocol, entries to their rings, `commit`
//          last; the stamps are the recorded ones. Readers may be attached.
// Reader   frames are untrusted: a part that breaks a rule of the layout is refused before
//          anything of its frame is stored.
// Threads  one at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shm/error.h"
#include "shm/raw_layout.h"
#include "shm/recording_format.h"

namespace vitrine::shm {

class FramePlayer {
 public:
  // Whose words the heartbeat and the time anchor are: the recorded engine's, or the caller's.
  enum class Clock { kRecorded, kCallers };

  // `segment` has layout.total_bytes() bytes, all zero after the header; both outlive the player.
  FramePlayer(const RawLayout& layout, std::byte* segment, Clock clock);

  // Publishes one frame; `payload` is that of its chunk. On an error nothing was stored.
  Result<void> play(std::span<const std::uint64_t> payload);

  // Of the last frame.
  const FrameHeader& header() const { return header_; }
  // Ring entries that the recorder missed, all together. Their places in the rings hold entries
  // with nothing but stamp and sequence.
  std::uint64_t missed_entries() const { return missed_; }

 private:
  using Words = std::span<const std::uint64_t>;

  const char* fault_of(Words payload) const;
  const char* fault_of(const PartHeader& part, Words words) const;
  void store(const PartHeader& part, Words words);
  void store_plain(const RawSection& section, const PartHeader& part, Words words);
  void store_row(const RawSection& section, const PartHeader& part, Words words);
  void store_entries(std::size_t section_index, const PartHeader& part, Words words);
  std::uint64_t* words_at(std::uint64_t offset_bytes) const;
  std::size_t index_of(std::uint32_t section) const;

  const RawLayout& layout_;
  std::byte* segment_;
  Clock clock_;
  std::vector<std::uint64_t> used_;  // by section: rows in use, or entries appended
  FrameHeader header_{};
  std::uint64_t missed_ = 0;
};

}  // namespace vitrine::shm
