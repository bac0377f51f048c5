// SPDX-License-Identifier: Apache-2.0
// Ends what a program of somebody else left running: this user's processes whose HOME or TMPDIR is
// the folder that was made for one run of a command (command_run.h).
//
// Cost: a look at every process of the host.
// Why: a process that leaves its group and session is out of reach for signals to those, and when
// an engine is killed the kernel ends the program that it ran, but not that program's own children.
// They may still write secrets where nobody removes them. The folder's name tells them from all
// others; a process number may be somebody else's by now. What gives itself another environment and
// another session is not found.
#pragma once

#include <cstddef>
#include <filesystem>

namespace vitrine::engine {

// Until a look finds none, or for 2 s. How many were killed. Needs /proc; without it none are.
std::size_t end_leftovers(const std::filesystem::path& home);

}  // namespace vitrine::engine
