// SPDX-License-Identifier: Apache-2.0
// The thread that loads proving keys, one at a time, in the order they were asked for.
//
// Threads: run() is the thread's body; it ends when the model says stopping.
// Why: a key takes seconds to minutes; loaded by a thread of its own, it holds up only the jobs
// that need it.
#pragma once

#include "engine/state.h"
#include "kernels/thread_pool.h"

namespace vitrine::engine {

void run_key_loader(EngineState& state, ThreadRow row, kernels::ThreadPool& threads);

}  // namespace vitrine::engine
