// SPDX-License-Identifier: Apache-2.0
// The alarm: makes a change, and so a plan, when nothing but time has changed.
//
// Threads  one of its own.
// Why      a batch that is old enough, a key that is idle long enough, a job that has waited too
//          long and a deadline that passes happen without anybody doing anything.
#pragma once

#include "engine/state.h"

namespace vitrine::engine {

// Until the engine stops.
void run_alarm(EngineState& state, ThreadRow row);

}  // namespace vitrine::engine
