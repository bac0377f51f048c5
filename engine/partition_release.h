// SPDX-License-Identifier: Apache-2.0
// Takes a partition out of the places where it waits or is worked on: part of every end of an
// attempt, final or not.
//
// Threads  inside a change.
#pragma once

#include "engine/state.h"

namespace vitrine::engine {

// Out of the lines before synthesis and before the devices.
void leave_lines(EngineModel& model, const Partition& partition);

enum class AttemptEnd { kProof, kFailure, kStopped };

// Frees the worker that has it in hand, and its device's kernels; counts the end for both.
void release_worker(Change& change, Partition& partition, AttemptEnd end);

}  // namespace vitrine::engine
