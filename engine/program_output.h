// SPDX-License-Identifier: Apache-2.0
// What the engine's programs say: results on standard output, one line at a time on standard error.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "engine/error.h"

namespace vitrine::engine {

// Writes all of `text` to standard output. A reader that went away is no error (SIGPIPE is ignored
// from then on), everything else is: who asked did not get it.
[[nodiscard]] Result<void> print_output(std::string_view text);

// The same as the last thing a program does; its exit code.
[[nodiscard]] int finish_with_output(const CLI::App& app, std::string_view text);

// Prints "PROGRAM: TEXT" on standard error, as one line of harmless characters.
void print_line(const CLI::App& app, std::string_view text);

// The same for what went wrong; returns the exit code.
int report_failure(const CLI::App& app, std::string_view text, int exit_code);

}  // namespace vitrine::engine
