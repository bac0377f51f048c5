// SPDX-License-Identifier: Apache-2.0
// Supervision: a thread of the engine whose work throws goes on, says so, and leaves nothing
// behind.
//
// Threads: supervise() is called by the thread itself.
// Why: what a stage computes is guarded where it is called (exception_guard.h) and fails one
// partition. What is left is an exception in a transition or in a stage's own bookkeeping: the
// thread starts over, so that one partition's bad luck does not stop all that come after it.
// Cost: a thread that throws again and again starts over ten times a second.
#pragma once

#include <functional>

#include "engine/error.h"
#include "engine/state.h"
#include "engine/thread_step.h"

namespace vitrine::engine {

// Shows that the thread started over, and why.
void count_restart(Change& change, ThreadRow row, const Error& error);

// Fails what the thread had in hand according to the model.
void fail_work_in_hand(Change& change, ThreadRow row, const Error& error);

// Runs `body` until it returns. When it throws, `clean_up` is called in a change, and it is run
// again. What `clean_up` throws ends the process: a state that cannot be mended is not shown.
struct SupervisedBody {
  std::function<void()> body;
  std::function<void(Change&, const Error&)> clean_up;
};
void supervise(EngineState& state, ThreadRow row, const SupervisedBody& work);

}  // namespace vitrine::engine
