// SPDX-License-Identifier: Apache-2.0
// RecordingEncoder: turns moments of a segment into the bytes of a recording.
//
// Layout   shm/recording_format.h.
// Threads  one at a time.
// Cost     one comparison per row; the bytes are those of the rows that changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shm/raw_copy.h"
#include "shm/recording_format.h"

namespace vitrine::shm {

class RecordingEncoder {
 public:
  explicit RecordingEncoder(RawLayout layout) : layout_(std::move(layout)) {}

  // Each gives the next bytes of the file, to be written whole; valid until the next call.
  std::span<const std::byte> begin();
  // Requires: `frame` is of the layout. Its commit is filled into `header`.
  std::span<const std::byte> frame(const RawFrame& frame, FrameHeader header);
  std::span<const std::byte> end();

 private:
  void put(const void* bytes, std::size_t count);
  void open_chunk(ChunkKind kind);
  std::span<const std::byte> close_chunk();
  void put_part(const PartHeader& part, const std::uint64_t* words);
  void put_plain(const RawSection& section, const RawContent& now, RawContent& before);
  void put_rows(const RawSection& section, const RawContent& now, RawContent& before);

  RawLayout layout_;
  std::vector<RawContent> before_;  // of the frame before; empty: none
  std::vector<std::byte> bytes_;
  std::size_t chunk_begin_ = 0;
};

}  // namespace vitrine::shm
