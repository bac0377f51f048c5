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

// What was seen at one time.
struct Moment {
  std::uint64_t number = 0;  // 1 for the first observation of this process
  shm::Observation observation;
};

class WatchedEngine {
 public:
  static constexpr std::uint64_t kIntervalNs = 100'000'000;

  explicit WatchedEngine(const shm::Target& target, std::uint64_t interval_ns = kIntervalNs);

  // The newest moment, at most one interval old.
  std::shared_ptr<const Moment> moment();

 private:
  const std::uint64_t interval_ns_;
  std::mutex mutex_;
  shm::Attachment attachment_;
  std::uint64_t observed_ns_ = 0;
  std::shared_ptr<const Moment> latest_;
};

}  // namespace vitrine::exporters
