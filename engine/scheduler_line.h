// SPDX-License-Identifier: Apache-2.0
// The line in which the jobs of a plan are served: urgency, and batches of one circuit.
//
// Threads  pure functions.
// Why      a batch stands in the line as its most urgent member does, so that its jobs follow each
//          other and use a key that is there.
#pragma once

#include "engine/scheduler.h"

namespace vitrine::engine {

// The earlier of two moments of which zero is none.
[[nodiscard]] std::uint64_t earlier_ns(std::uint64_t one_ns, std::uint64_t other_ns);

// Puts jobs that are not in a batch yet into one, or holds them until one is full or old enough.
// Critical jobs are never held.
void collect_batches(const SchedulerView& view, Plan& plan);

// Fills `plan.line` with all jobs that are not held.
void form_line(const SchedulerView& view, Plan& plan);

}  // namespace vitrine::engine
