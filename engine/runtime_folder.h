// SPDX-License-Identifier: Apache-2.0
// The folder of an engine's socket and of the instance's lock.
#pragma once

#include <filesystem>

#include "engine/start_failure.h"

namespace vitrine::engine {

// Makes the folder if need be. kUsage when it cannot be made, or is neither root's nor ours: others
// could put their own files there.
[[nodiscard]] StartResult<void> prepare_runtime_folder(const std::filesystem::path& folder);

}  // namespace vitrine::engine
