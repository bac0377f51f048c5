// SPDX-License-Identifier: Apache-2.0
#include "engine/job.h"

#include <cassert>
#include <cstdlib>

namespace vitrine::engine {

void set_state(Job& job, shm::JobState state) {
  assert(!shm::is_final(job.state) && "one terminal transition per job");
  if (job.state == shm::JobState::kUnknown) {
    ++job.tally->submitted;
  } else {
    --job.tally->jobs[static_cast<std::size_t>(job.state)];
  }
  ++job.tally->jobs[static_cast<std::size_t>(state)];
  job.state = state;
}

namespace {

// A partition that failed, was cancelled or went back tells nothing about how long a stage takes.
void count_time(const Partition& partition, shm::PartitionStage next, shm::Instant now) {
  if (next == shm::PartitionStage::kFailed || next == shm::PartitionStage::kCancelled) return;
  if (next < partition.stage) return;
  auto& times = partition.job->tally->stage_times;
  if (partition.stage != shm::PartitionStage::kUnknown) {
    times[static_cast<std::size_t>(partition.stage)].add(now.ns - partition.stage_since.ns);
  }
  if (next == shm::PartitionStage::kDone) {
    times[static_cast<std::size_t>(next)].add(now.ns - partition.created.ns);
  }
}

}  // namespace

void set_stage(Partition& partition, shm::PartitionStage stage, StageCounts& engine_wide,
               shm::Instant now) {
  assert(!shm::is_final(partition.stage) && "one terminal transition per partition");
  count_time(partition, stage, now);
  partition.stage_since = now;
  const auto leave = static_cast<std::size_t>(partition.stage);
  const auto enter = static_cast<std::size_t>(stage);
  Job& job = *partition.job;
  if (partition.stage != shm::PartitionStage::kUnknown) {
    --job.stages[leave];
    --engine_wide[leave];
  }
  ++job.stages[enter];
  if (shm::is_final(stage)) {
    partition.last_stage = partition.stage;
    ++job.tally->partitions_ended[enter];
  } else {
    ++engine_wide[enter];
  }
  partition.stage = stage;
}

shm::FailureClass failure_class_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::kBadInput:
    case ErrorClass::kUsage:
      return shm::FailureClass::kBadInput;
    case ErrorClass::kOutOfMemory:
      return shm::FailureClass::kOutOfMemory;
    case ErrorClass::kDeviceError:
      return shm::FailureClass::kDeviceError;
    case ErrorClass::kVerifyFailed:
      return shm::FailureClass::kVerifyFailed;
    case ErrorClass::kCancelled:
      return shm::FailureClass::kCancelled;
    case ErrorClass::kTimeout:
      return shm::FailureClass::kTimeout;
    case ErrorClass::kLost:
      return shm::FailureClass::kLost;
    case ErrorClass::kInternal:
      return shm::FailureClass::kInternal;
    case ErrorClass::kRefused:
      return shm::FailureClass::kNone;
  }
  std::abort();
}

}  // namespace vitrine::engine
