// SPDX-License-Identifier: Apache-2.0
// The threads that read witnesses, after making those that are to be made, and evaluate the
// constraints: the stages before the devices.
//
// Threads: run() is the body of each; it ends when the model says stopping.
// Why: apart from the workers, so that synthesis of the next partition overlaps the proof of this
// one; the bounded device queue holds it back (scheduler.h).
#pragma once

#include <cstdint>

#include "engine/backend.h"
#include "engine/state.h"
#include "kernels/thread_pool.h"

namespace vitrine::engine {

class Spool;

struct SynthesisTools {
  Backend& backend;
  kernels::ThreadPool& threads;
  Spool* spool = nullptr;             // null: no witness can be made
  std::uint64_t input_bytes_max = 0;  // of each
};
void run_synthesis(EngineState& state, ThreadRow row, const SynthesisTools& tools);

}  // namespace vitrine::engine
