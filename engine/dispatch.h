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

// Whether the circuit's key is loaded at the start, if it fits beside those loaded before it.
[[nodiscard]] bool is_to_be_resident(const EngineModel& model, const Circuit& circuit);
[[nodiscard]] bool resident_key_fits(EngineModel& model, const Circuit& circuit);

// Begins to load the keys that are kept resident, as far as they fit together.
void load_resident_keys(Change& change);

}  // namespace vitrine::engine
