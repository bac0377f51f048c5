// SPDX-License-Identifier: Apache-2.0
// A writer that publishes flat out until it is killed, and its log of what it committed.
//
// Why      the log is in memory of its own, so that it can tell what the segment must hold: each
//          transaction is announced before its first store and confirmed after its commit. Once
//          the writer is dead or stopped, the segment's commit is the confirmed number, or the
//          announced one.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>

#include "tests/shm/planned_state.h"

namespace vitrine::shm::testing {

struct WriterLog {
  // Stored with seq_cst, so that no compiler moves a store of the segment across.
  std::atomic<std::uint64_t> announced;
  std::atomic<std::uint64_t> confirmed;
  std::atomic<bool> is_published;  // then `incarnation` is set
  char incarnation[40];
  char error[256];
};

inline Capacity torture_capacity() {
  Capacity capacity;
  capacity.jobs = 16;
  capacity.partitions = 64;
  capacity.workers = 8;
  capacity.devices = 2;
  capacity.allocations = 4;
  capacity.queues = 4;
  capacity.counters = 4;
  capacity.threads = 8;
  capacity.limiters = 4;
  capacity.stage_times = 4;
  capacity.settings = 4;
  capacity.errors = 4;
  capacity.events = 64;
  capacity.history = 64;
  return capacity;
}

inline SegmentOptions torture_segment(const std::filesystem::path& path, std::uint32_t period) {
  SegmentOptions options;
  options.instance = "main";
  options.path = path;
  options.engine_version = std::to_string(period);  // tells readers the plan
  options.capacity = torture_capacity();
  options.heartbeat_interval_ns = 1'000'000;
  return options;
}

inline PlannedState plan_of(const SegmentIdentity& identity) {
  const unsigned long period = std::strtoul(identity.engine_version.c_str(), nullptr, 10);
  return {torture_capacity(), static_cast<std::uint32_t>(period)};
}

// Returns only when it cannot publish.
inline int write_flat_out(const SegmentOptions& options, std::uint32_t period, WriterLog& log) {
  constexpr std::uint64_t kTransactionsPerBeat = 64;
  auto writer = SegmentWriter::publish_named(options);
  if (!writer) {
    std::snprintf(log.error, sizeof(log.error), "%s", writer.error().text.c_str());
    return 1;
  }
  std::snprintf(log.incarnation, sizeof(log.incarnation), "%s", writer->incarnation().c_str());
  log.is_published = true;
  const PlannedState plan(options.capacity, period);
  writer->set_life(EngineLife::kReady, 0);
  for (std::uint64_t number = 1;; ++number) {
    log.announced = number;
    plan.run(*writer, number);
    log.confirmed = number;
    if (number % kTransactionsPerBeat == 0) writer->beat();
  }
}

}  // namespace vitrine::shm::testing
