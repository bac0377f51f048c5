// SPDX-License-Identifier: Apache-2.0
// The settings that can change while the engine runs.
#pragma once

#include <string_view>

#include "engine/configuration.h"
#include "engine/model.h"

namespace vitrine::engine {

// All that is read anew each time it is needed; the others shape threads, files and the segment,
// which are made at the start.
[[nodiscard]] bool is_live(std::string_view setting);

// Those of them that the model holds. Threads: the engine's state mutex is held.
void apply_live_settings(EngineModel& model, const Configuration& configuration);

}  // namespace vitrine::engine
