// SPDX-License-Identifier: Apache-2.0
// HeartbeatWatch: has the heartbeat's counter moved, on the reader's own clock.
//
// Why      the engine's clock readings cannot be trusted across machines and namespaces; two looks
//          at a counter can. One look alone never says that a heart stands.
// Threads  one at a time.
#pragma once

#include <cstdint>
#include <string>

#include "shm/snapshot.h"

namespace vitrine::shm {

// The promised interval, forced into what a reader is willing to wait by.
std::uint64_t credible_interval_ns(const Snapshot& snapshot);

class HeartbeatWatch {
 public:
  // Notes a snapshot; `now_ns` is the reader's monotonic clock after it was taken. Corrects the
  // snapshot's heartbeat_age_ns when the two looks show that the clocks do not compare.
  void observe(Snapshot& snapshot, std::uint64_t now_ns);
  // What a recorder saw in place of looks of one's own.
  void take_recorded(std::uint64_t stood_ns) { stood_ns_ = stood_ns; }

  // True when the same count was seen over more than 3 promised intervals.
  bool stands() const { return stood_ns_ > 3 * interval_ns_ && interval_ns_ != 0; }
  // For how long the present count has been watched.
  std::uint64_t stood_ns() const { return stood_ns_; }

 private:
  std::string incarnation_;
  std::uint64_t count_ = 0;
  std::uint64_t interval_ns_ = 0;
  std::uint64_t first_seen_ns_ = 0;  // after the first snapshot with this count
  std::uint64_t last_taken_ns_ = 0;  // before the last snapshot
  std::uint64_t stood_ns_ = 0;
  bool clocks_differ_ = false;
};

}  // namespace vitrine::shm
