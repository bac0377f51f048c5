// SPDX-License-Identifier: Apache-2.0
// PartitionHold: what a stage has of its partition while it computes without the mutex.
//
// Threads: made and asked inside a change; kept by the stage's thread.
// Why: a partition may be taken from a stage that does not answer (device_health.h). The hold keeps
// the job in memory and knows the attempt it belongs to, so that a late answer is told from that
// of the attempt that runs now.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/job.h"

namespace vitrine::engine {

struct PartitionHold {
  explicit PartitionHold(Partition& held)
      : job(held.job->shared_from_this()), partition(&held), attempt(held.attempt) {}

  // False once the attempt is over.
  [[nodiscard]] bool is_current() const {
    return partition->attempt == attempt && !shm::is_final(partition->stage);
  }

  std::shared_ptr<Job> job;
  Partition* partition;
  std::uint32_t attempt;
};

}  // namespace vitrine::engine
