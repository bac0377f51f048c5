// SPDX-License-Identifier: Apache-2.0
// The forecast: when each job is expected to end, if partitions take as long as they have taken.
//
//   Work goes through two resources in the order of the line: a slot for the CPU stages, then a
//   device. Each partition takes the first that is free; a job ends with the last of its
//   partitions. What depends on something that was never measured (a circuit that has made no
//   proof, a key that was never loaded) is unknown, and so is all that stands behind it.
//
// Units    nanoseconds of CLOCK_MONOTONIC; zero is unknown.
// Threads  pure functions.
// Cost     partitions times (slots + devices).
// Why      memory, batches and more urgent jobs that are still to come are left out: it is an
//          estimate, and shown as one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace vitrine::engine {

// How long a partition of a circuit takes, from those that were done: a mean in which each counts
// an eighth, so that it follows what changes. Zero: none was done yet.
struct PartitionPace {
  std::uint64_t cpu_ns = 0;     // before the device queue
  std::uint64_t device_ns = 0;  // on the device alone
  std::uint64_t rest_ns = 0;    // verification and what follows

  [[nodiscard]] bool is_known() const { return device_ns != 0; }
  void learn(const PartitionPace& measured);
};

struct ForecastCircuit {
  PartitionPace pace;
  std::uint64_t key_ready_ns = 0;  // when its key can be used; in the past when it is there
};

// Work that has begun, on its device or before it.
struct ForecastWork {
  enum class Place { kSlot, kQueue, kDevice } place = Place::kSlot;
  std::uint32_t job = 0;  // index into Forecast::jobs
  std::uint64_t since_ns = 0;
};

struct ForecastJob {
  std::uint32_t circuit = 0;  // index into ForecastFacts::circuits
  std::uint32_t pending = 0;  // partitions to be started
};

struct ForecastFacts {
  std::uint64_t now_ns = 0;
  std::uint32_t slots = 1;
  std::uint32_t devices = 0;  // that take work
  bool is_paused = false;     // nothing pending begins
  std::vector<ForecastCircuit> circuits;
  std::vector<ForecastJob> jobs;  // in the order of the line
  std::vector<ForecastWork> work;
};

// The end of each of the jobs.
[[nodiscard]] std::vector<std::uint64_t> forecast_ends(const ForecastFacts& facts);

}  // namespace vitrine::engine
