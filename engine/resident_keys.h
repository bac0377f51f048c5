// SPDX-License-Identifier: Apache-2.0
// Which keys are kept resident: those configured so, as far as they fit together.
//
// Threads  the engine's state mutex is held.
// Why      a resident key is never evicted, so what is admitted must fit beside all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/model.h"

namespace vitrine::engine {

// Marks them, in the order of the configuration, each if the largest partition still fits beside
// them; answers those that do not fit, which are then loaded and evicted like any other.
std::vector<const Circuit*> choose_resident_keys(EngineModel& model);

// The bytes of resident keys of other circuits.
[[nodiscard]] std::uint64_t kept_bytes_beside(const EngineModel& model, const Circuit& circuit);

}  // namespace vitrine::engine
