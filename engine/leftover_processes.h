// SPDX-License-Identifier: Apache-2.0
// Ends what an engine before this one left running: processes whose HOME is a folder that was made
// for one run of a command (command_run.h).
//
// Why: when an engine is killed the kernel ends the program that it ran, but not that program's own
// children, which may still write secrets where nobody removes them. HOME tells them from all
// others; a process number may be somebody else's by now.
#pragma once

#include <cstddef>
#include <filesystem>

namespace vitrine::engine {

// How many were killed. Needs /proc; without it none are.
std::size_t end_leftovers(const std::filesystem::path& home);

}  // namespace vitrine::engine
