// SPDX-License-Identifier: Apache-2.0
// The threads that read witnesses and evaluate the constraints: the stage before the devices.
//
// Threads: run() is the body of each; it ends when the model says stopping.
// Why: apart from the workers, so that synthesis of the next partition overlaps the proof of this
// one; the bounded device queue holds it back (scheduler.h).
#pragma once

#include "engine/backend.h"
#include "engine/state.h"
#include "kernels/thread_pool.h"

namespace vitrine::engine {

void run_synthesis(EngineState& state, ThreadRow row, Backend& backend,
                   kernels::ThreadPool& threads);

}  // namespace vitrine::engine
