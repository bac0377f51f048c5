// SPDX-License-Identifier: Apache-2.0
// What a start with a configuration would complain about, without a start.
//
// Why: the check builds what the start builds and asks it the same questions, so that the two
// agree.
#pragma once

#include <string>
#include <vector>

#include "engine/configuration.h"

namespace vitrine::engine {

// One line each: what ends a start and what makes it degraded. What depends on the moment, such as
// another engine that runs, is not looked at.
[[nodiscard]] std::vector<std::string> start_complaints(const Configuration& configuration);
// Of those, the ones about a `witness_command` that could not be run now.
[[nodiscard]] std::vector<std::string> command_complaints(const Configuration& configuration);

}  // namespace vitrine::engine
