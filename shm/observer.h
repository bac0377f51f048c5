// SPDX-License-Identifier: Apache-2.0
// Observer: looks at a segment again and again, judges its engine, and keeps what was seen last
// when it cannot be seen any more.
//
// Threads  one at a time.
// Cost     a look is one snapshot, one stat and one lock query.
#pragma once

#include <cstdint>
#include <optional>

#include "shm/error.h"
#include "shm/heartbeat_watch.h"
#include "shm/segment_reader.h"
#include "shm/verdict.h"

namespace vitrine::shm {

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

class Observer {
 public:
  // Looks without waiting. The reference is valid until the next look.
  const Observation& look(SegmentReader& reader);
  // The same when there is no segment to look at.
  const Observation& look_in_vain(const Error& why);
  // Another segment is looked at from now on.
  void begin_segment();

  const Observation& last() const { return observation_; }
  const HeartbeatWatch& heartbeat() const { return heartbeat_; }

 private:
  void take_snapshot(SegmentReader& reader);

  HeartbeatWatch heartbeat_;
  Observation observation_;
};

// Exit code of the status commands, as exit_code_of(VerdictWord), and 3: no such instance.
int exit_code_of(const Observation& observation);

}  // namespace vitrine::shm
