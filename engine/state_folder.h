// SPDX-License-Identifier: Apache-2.0
// Where an engine keeps what outlives it.
#pragma once

#include <filesystem>
#include <string>

namespace vitrine::engine {

// $STATE_DIRECTORY, else $XDG_STATE_HOME (or ~/.local/state)/vitrine/INSTANCE, else
// /var/lib/vitrine/INSTANCE.
[[nodiscard]] std::filesystem::path state_folder(const std::string& instance);

}  // namespace vitrine::engine
