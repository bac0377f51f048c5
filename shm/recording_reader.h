// SPDX-License-Identifier: Apache-2.0
// RecordingReader: walks through a recording and keeps the segment as it was at each frame.
//
// Reader   the file is untrusted: every length and offset is checked, a chunk counts only when it
//          is whole and its checksum holds. Memory is the segment's size and one frame.
// Threads  one at a time.
// Cost     of a frame, its bytes; there is no way back but to open it again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "shm/error.h"
#include "shm/raw_layout.h"

namespace vitrine::shm {

// When a frame was taken, and what the recorder knew of the engine then.
struct RecordedMoment {
  std::uint64_t frame = 0;  // from 1
  std::int64_t taken_unix_ns = 0;
  std::uint64_t taken_engine_ns = 0;     // the engine's monotonic clock
  std::uint64_t heartbeat_stood_ns = 0;  // for how long the frames show the same heartbeat
  bool lock_held = false;
  bool name_linked = false;
};

// How the frames end.
enum class RecordingEnd {
  kNotReached,
  kFinished,  // the recorder ended
  kOpen,      // after a whole chunk: the recorder still runs, or was killed
  kCut,       // within a chunk: killed, or the disk was full
  kDamaged    // a checksum does not hold or a rule is broken
};

class RecordingReader {
 public:
  // Before the first frame. Errors: kAbsent, kUnreadable, kCorrupt, kUnsupported, kSystem.
  static Result<RecordingReader> open(const std::filesystem::path& path);
  // The same of bytes in memory, which outlive the reader; `name` goes into the errors.
  static Result<RecordingReader> of_bytes(std::span<const std::byte> bytes,
                                          const std::string& name);

  RecordingReader(RecordingReader&&) noexcept;
  RecordingReader& operator=(RecordingReader&&) noexcept;
  ~RecordingReader();

  // Goes to the next frame; false at the end.
  bool next();

  const RecordedMoment& moment() const;
  RecordingEnd end() const;
  // Ring entries that the recorder missed up to this frame.
  std::uint64_t missed_entries() const;
  // One line: when, which frame, and how the recording ends when not well.
  std::string note() const;

  const std::string& name() const;
  const RawLayout& layout() const;
  // The segment at this frame. Its place is constant, its content is not.
  std::span<const std::byte> image() const;
  // The frame as it lies in the file, for a FramePlayer.
  std::span<const std::uint64_t> payload() const;

 private:
  struct State;

  explicit RecordingReader(std::unique_ptr<State> state);
  std::string no_frame_note() const;
  static Result<RecordingReader> start(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace vitrine::shm
