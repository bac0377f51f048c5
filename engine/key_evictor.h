// SPDX-License-Identifier: Apache-2.0
// The thread that frees keys whose bytes are wanted for others, or that are in doubt.
//
// Threads  one of its own.
// Why      freeing gigabytes takes time, and their bytes go to others only once they are free. No
//          thread that anybody waits for does it, and a loader that is busy does not delay it.
#pragma once

#include "engine/state.h"

namespace vitrine::engine {

// Until the engine stops.
void run_key_evictor(EngineState& state, ThreadRow row);

}  // namespace vitrine::engine
