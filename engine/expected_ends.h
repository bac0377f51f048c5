// SPDX-License-Identifier: Apache-2.0
// Shows when each job is expected to end: the facts of the moment, the forecast, and its result in
// the rows of the jobs. A job's margin is from there to its deadline.
//
// Threads  tell_expected_ends() takes the state mutex twice, shortly; the forecast is made between.
// Why      once a second, not at each change: an estimate that moves with each event tells nothing
//          more, and every row would be written again each time.
#pragma once

#include "engine/forecast.h"
#include "engine/job.h"

namespace vitrine::engine {

class EngineState;

void tell_expected_ends(EngineState& state);

// What a partition that was done took.
[[nodiscard]] PartitionPace pace_of(const Partition& partition);

}  // namespace vitrine::engine
