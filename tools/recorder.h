// SPDX-License-Identifier: Apache-2.0
// Recorder: takes moments of a live engine and appends them to a recording.
//
// Threads  one at a time.
// Crash    of the engine: its last state is recorded. Of the recorder: what it wrote is readable.
#pragma once

#include <cstdint>
#include <memory>

#include "shm/raw_copy.h"
#include "shm/recording_encoder.h"
#include "shm/segment_reader.h"
#include "tools/recording_file.h"

namespace vitrine::tools {

class Recorder {
 public:
  // Errors: kUnreadable, and those of the file.
  static Result<Recorder> start(shm::SegmentReader reader, const shm::AttachOptions& options,
                                RecordingFile file);

  enum class Engine { kLives, kGone };
  // One frame. kGone: the engine had ended before, so this was its last state. A moment that
  // cannot be copied now (the engine is too fast, or is about to publish a damaged segment again)
  // is left out. Errors: the file's, and kUnreadable when the segment stays damaged.
  Result<Engine> take_frame();
  // True when the engine's rings would be overwritten unread by the usual time of the next frame.
  bool must_hurry() const { return copy_->fullest_ring() > 0.4; }
  // Ends the recording well.
  Result<void> finish() { return file_.append(encoder_.end()); }

  std::uint64_t frames() const { return frames_; }
  std::uint64_t left_out() const { return left_out_; }
  std::uint64_t missed_entries() const { return missed_; }
  std::uint64_t size_bytes() const { return file_.size_bytes(); }

 private:
  Recorder(shm::SegmentReader reader, const shm::AttachOptions& options, shm::RawLayout layout,
           RecordingFile file);

  void follow_to_new_file();
  std::uint64_t engine_time_ns();

  shm::SegmentReader reader_;
  shm::AttachOptions options_;
  shm::RawLayout layout_;
  std::unique_ptr<shm::RawCopy> copy_;
  shm::RecordingEncoder encoder_;
  RecordingFile file_;
  shm::Snapshot clock_;
  std::uint64_t frames_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t missed_ = 0;
  std::uint64_t readable_ns_ = 0;  // when the segment was last seen undamaged
};

}  // namespace vitrine::tools
