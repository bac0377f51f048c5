// SPDX-License-Identifier: Apache-2.0
// The counters of the proof kinds: a row each, as far as there are rows.
//
// Threads: the engine's state mutex is held.
#pragma once

#include <cstdint>
#include <string>

#include "engine/model.h"

namespace vitrine::engine {

// The row of a kind, made if need be; kinds beyond the eighth share one.
[[nodiscard]] std::uint32_t kind_row(EngineModel& model, const std::string& kind);

}  // namespace vitrine::engine
