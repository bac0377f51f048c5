// SPDX-License-Identifier: Apache-2.0
// Which partition a worker takes from the device queue, and which worker gets its device's kernels.
//
// Threads  pure functions of the model; the state mutex is held.
// Why      the order of urgency.h holds at the devices too: critical work waits for the partition
// in
//          the kernels only, not for one that another worker merely holds.
#pragma once

#include "engine/model.h"

namespace vitrine::engine {

// Null: there is nothing for this worker.
[[nodiscard]] Partition* next_for_device(const EngineModel& model, const Worker& worker,
                                         shm::Instant now);

// The worker waits for kernels with a partition; true when it is its turn.
[[nodiscard]] bool may_begin_kernels(const EngineModel& model, const Worker& worker,
                                     shm::Instant now);

// The worker waits for kernels with a partition; true when it is to put that back for critical
// work.
[[nodiscard]] bool is_overtaken(const EngineModel& model, const Worker& worker, shm::Instant now);

}  // namespace vitrine::engine
