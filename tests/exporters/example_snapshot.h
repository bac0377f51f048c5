// SPDX-License-Identifier: Apache-2.0
// A hand-made moment of an engine: one job at work, one done, one waiting, one long gone.
#pragma once

#include "shm/snapshot.h"

namespace vitrine::exporters::testing {

inline constexpr std::uint64_t kSecondNs = 1'000'000'000;
inline constexpr std::uint64_t kNowNs = 1000 * kSecondNs;

inline shm::Instant seconds_before_now(std::uint64_t seconds) {
  return shm::Instant{kNowNs - seconds * kSecondNs};
}

inline shm::JobRecord make_job(std::uint64_t id, shm::JobState state, std::uint32_t partitions) {
  shm::JobRecord job;
  job.job.value = id;
  job.state = state;
  job.circuit.assign("multiplier");
  job.proof_kind.assign("porep");
  job.partitions = partitions;
  job.submitted = seconds_before_now(100 - id);
  return job;
}

inline shm::PartitionRecord make_partition(std::uint64_t job, std::uint32_t number,
                                           shm::PartitionStage stage) {
  shm::PartitionRecord partition;
  partition.job.value = job;
  partition.partition = number;
  partition.stage = stage;
  return partition;
}

inline void add_jobs(shm::Snapshot& snapshot) {
  using shm::JobState;
  using shm::PartitionStage;
  auto& jobs = snapshot.rows<shm::JobRecord>();
  auto& partitions = snapshot.rows<shm::PartitionRecord>();
  jobs.push_back(make_job(2, JobState::kRunning, 9));
  jobs.back().started = seconds_before_now(12);
  jobs.back().partitions_done = 1;
  for (std::uint32_t i = 9; i > 0; --i) {  // rows are not in the order of numbers
    partitions.push_back(make_partition(2, i - 1, static_cast<PartitionStage>(i)));
  }
  shm::PartitionRecord& done = partitions[2];
  done.synth_start = seconds_before_now(11);
  done.synth_end = shm::Instant{done.synth_start.ns + 1'234'567'890};
  done.gpu_start = seconds_before_now(9);
  done.gpu_end = seconds_before_now(7);
  partitions[5].synth_start = seconds_before_now(3);  // synthesizing since
  jobs.push_back(make_job(1, JobState::kDone, 1));
  jobs.back().finished = seconds_before_now(29);
  jobs.back().partitions_done = 1;
  partitions.push_back(make_partition(1, 0, PartitionStage::kDone));
  jobs.push_back(make_job(3, JobState::kDone, 1));
  jobs.back().finished = seconds_before_now(31);
  jobs.push_back(make_job(4, JobState::kRefused, 2));
  jobs.back().finished = seconds_before_now(1);
  jobs.push_back(make_job(5, JobState::kQueued, 2));
}

inline void add_workers(shm::Snapshot& snapshot) {
  auto& workers = snapshot.rows<shm::WorkerRecord>();
  workers.resize(2);
  workers[0].state = shm::WorkerState::kProving;
  workers[0].device = shm::Index::of(1);
  workers[0].job.value = 2;
  workers[0].partition = shm::Index::of(4);
  workers[0].since = seconds_before_now(2);
  workers[1].identity.row = 1;
  workers[1].state = shm::WorkerState::kIdle;
  workers[1].device = shm::Index::of(0);
}

inline void add_allocations(shm::Snapshot& snapshot) {
  auto& held = snapshot.rows<shm::AllocationRecord>();
  held.resize(3);
  for (shm::AllocationRecord& row : held) {
    row.circuit.assign("multiplier");
    row.state = shm::AllocationState::kReady;
    row.reserved_bytes = 4096;
  }
  held[0].kind = shm::AllocationKind::kSrs;
  held[0].last_used = seconds_before_now(5);
  held[1].kind = shm::AllocationKind::kPce;
  held[1].references = 1;
  held[1].last_used = seconds_before_now(0);
  held[2].kind = shm::AllocationKind::kPce;
  held[2].state = shm::AllocationState::kAbsent;
}

inline void add_counts(shm::Snapshot& snapshot) {
  auto& counters = snapshot.rows<shm::CountersRecord>();
  counters.resize(2);
  counters[0].proof_kind.assign("porep");
  counters[0].done = 2;
  counters[0].failed = 1;
  counters[1].proof_kind.assign("post");
  counters[1].done = 3;
  counters[1].lost = 1;
  counters[1].cancelled = 7;
  auto& queues = snapshot.rows<shm::QueueRecord>();
  queues.resize(2);
  queues[0].name = shm::QueueName::kSynthesis;
  queues[0].depth = 9;
  queues[1].name = shm::QueueName::kJobs;
  queues[1].depth = 1;
}

inline shm::Snapshot make_example_snapshot() {
  shm::Snapshot snapshot;
  snapshot.heartbeat_monotonic_ns = kNowNs;
  snapshot.taken_monotonic_ns = kNowNs;
  shm::EngineRecord engine;
  engine.started = seconds_before_now(120);
  engine.synthesis_limit = 2;
  engine.synthesis_active = 1;
  snapshot.rows<shm::EngineRecord>() = {engine};
  shm::MemoryRecord memory;
  memory.budget_bytes = 1'000'000;
  memory.reserved_bytes = 400'000;
  snapshot.rows<shm::MemoryRecord>() = {memory};
  shm::BuffersRecord buffers;
  buffers.synth_in_flight = 1;
  buffers.provers_in_flight = 2;
  buffers.aux_in_flight = 3;
  buffers.shells_in_flight = 4;
  buffers.pending_handles = 5;
  snapshot.rows<shm::BuffersRecord>() = {buffers};
  add_jobs(snapshot);
  add_workers(snapshot);
  add_allocations(snapshot);
  add_counts(snapshot);
  return snapshot;
}

}  // namespace vitrine::exporters::testing
