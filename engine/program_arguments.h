// SPDX-License-Identifier: Apache-2.0
// What the command lines of all the engine's programs have in common.
//
// Why: scripts rely on it: every program knows the same general flags, and a wrong argument gives
// one line naming it and exit code 2, whatever the argument library thinks.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace vitrine::engine {

struct GeneralOptions {
  std::string instance;  // empty when neither the flag nor VITRINE_INSTANCE names one
  std::string segment;   // empty: the default place of the instance's segment
  std::string log_level = "info";
  std::string log_format = "text";
};

// Adds --version, --instance, --segment, --log-level and --log-format (--help is always there).
void add_general_options(CLI::App& app, GeneralOptions& options);

// For a program that has nothing to do with an engine: its help says that --instance and --segment,
// which it takes as every program does, change nothing.
void disown_engine_options(CLI::App& app);

// Parses; the exit code when the program is to end now: after --help, --version or an error, which
// has then been printed.
[[nodiscard]] std::optional<int> parse_arguments(CLI::App& app, int argc, const char* const* argv);

}  // namespace vitrine::engine
