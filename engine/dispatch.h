// SPDX-License-Identifier: Apache-2.0
// dispatch: carries out the scheduler's plan, at the end of every change.
//
// Threads  inside a change.
// Cost     linear in the jobs that still have partitions to start.
#pragma once

#include "engine/state.h"

namespace vitrine::engine {

// Asks for keys and drops them, grants bytes to partitions, keeps every wait reason true, and says
// when time alone will change that.
void dispatch(Change& change);

}  // namespace vitrine::engine
