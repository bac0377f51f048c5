// SPDX-License-Identifier: Apache-2.0
// The engine that an exporter shows: attached, attached again after a restart, observed at most
// every 100 ms, however many ask.
//
// Units    times are ns on CLOCK_MONOTONIC.
// Threads  any. A Moment is shared and never changes.
// Cost     one snapshot of the segment an interval, and only when somebody asks.
// Crash    the engine's death shows in the next Moment's verdict; its last state stays readable.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "shm/attachment.h"

namespace vitrine::exporters {

// How looking at the engine has gone since the exporter started.
struct WatchStatistics {
  std::uint64_t looks = 0;
  std::uint64_t duration_ns = 0;   // of all looks
  std::uint64_t failures = 0;      // looks that ended in an error
  std::uint64_t retries = 0;       // walks over the tables beyond the first of each snapshot
  std::uint64_t inconsistent = 0;  // snapshots that are not of one moment
};

// What was seen at one time.
struct Moment {
  std::uint64_t number = 0;  // 1 for the first observation of this process
  shm::Observation observation;
  WatchStatistics statistics;
};

// Whether there is no engine whose state could be shown as its present one. A hung engine has one.
bool is_gone(const shm::Observation& observation);

class WatchedEngine {
 public:
  static constexpr std::uint64_t kIntervalNs = 100'000'000;

  explicit WatchedEngine(const shm::Target& target, std::uint64_t interval_ns = kIntervalNs);

  // The newest moment, at most one interval old.
  std::shared_ptr<const Moment> moment();

 private:
  const shm::Observation& look(std::uint64_t now_ns);

  const std::uint64_t interval_ns_;
  std::mutex mutex_;
  shm::Attachment attachment_;
  std::uint64_t observed_ns_ = 0;
  WatchStatistics statistics_;
  std::shared_ptr<const Moment> latest_;
};

}  // namespace vitrine::exporters
