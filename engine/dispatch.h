// SPDX-License-Identifier: Apache-2.0
// dispatch: carries out the scheduler's plan, at the end of every change.
//
// Threads  inside a change.
// Cost     linear in the jobs that still have partitions to start.
#pragma once

#include "engine/state.h"

namespace vitrine::engine {

// Asks for keys, grants bytes to partitions, and keeps every wait reason true.
void dispatch(Change& change);

// Begins to load the keys that are kept resident, as far as they fit together.
void load_resident_keys(Change& change);

}  // namespace vitrine::engine
