// SPDX-License-Identifier: Apache-2.0
// Attachment: what tools and exporters watch an engine through; it finds the segment, attaches,
// follows a restarted engine to its new segment and keeps the last state of a dead one.
//
// Threads  one at a time.
// Cost     an observation is one snapshot, one stat and one lock query.
// Crash    of the engine: the mapping stays, so the last state stays readable even when the name
//          is gone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "shm/error.h"
#include "shm/paths.h"
#include "shm/segment_reader.h"
#include "shm/verdict.h"

namespace vitrine::shm {

// Which engine to watch.
struct Target {
  std::string instance = "main";
  std::optional<std::filesystem::path> path = {};  // --segment; then the instance is not looked up
  std::optional<std::filesystem::path> file = {};  // --file: a recording or dead segment, read once
  AttachOptions options = {};
  SegmentPlaces places = {};
};

// What one look showed.
struct Observation {
  std::optional<Snapshot> snapshot;  // last good one; none when nothing could ever be read
  SegmentIdentity identity;          // of that snapshot
  Liveness liveness;
  Verdict verdict;
  std::optional<Error> error;     // why this look failed, or why no segment could be attached
  std::uint64_t attachments = 0;  // segments attached so far: more than one after a restart
  std::uint64_t observed_monotonic_ns = 0;  // reader's clock

  // Time since `snapshot` was the engine's state: since it was taken, or since a dead engine's
  // last beat.
  std::uint64_t snapshot_age_ns() const;
};

class Attachment {
 public:
  explicit Attachment(Target target);

  // Looks once, without waiting. The reference is valid until the next call.
  const Observation& observe();

  // For one-shot commands: like observe(), but when the heartbeat looks as if it stood, looks a
  // second time after 3 promised intervals (6 s at most), because one look cannot tell.
  const Observation& observe_settled();

  const Observation& last() const { return observation_; }
  const Target& target() const { return target_; }

  // The attached segment, for events; null when none was ever attached. Invalid after observe().
  SegmentReader* reader() { return reader_ ? &*reader_ : nullptr; }

 private:
  void open_file_once();
  void find_segment_again();
  void attach_to(SegmentReader reader);
  void take_snapshot();

  Target target_;
  std::optional<SegmentReader> reader_;
  HeartbeatWatch heartbeat_;
  Observation observation_;
};

// Exit code of the status commands, as exit_code_of(VerdictWord), and 3: no such instance.
int exit_code_of(const Observation& observation);

}  // namespace vitrine::shm
