// SPDX-License-Identifier: Apache-2.0
// The part of the command line that all exporters have: which engine to watch and how to log.
//
// Layout   flags before VITRINE_* variables before defaults.
#pragma once

#include <string>
#include <variant>

#include "exporters/error.h"
#include "exporters/program_log.h"
#include "shm/attachment.h"

namespace CLI {
class App;
}

namespace vitrine::exporters {

// As given; the members are what the flags are called.
struct WatchArguments {
  std::string instance = "main";
  std::string segment;
  std::string owner;
  bool any_filesystem = false;
  std::string log_level = "info";
  std::string log_format = "text";

  LogFormat format() const { return log_format == "json" ? LogFormat::kJson : LogFormat::kText; }
};

// `arguments` must outlive the parsing.
void add_watch_options(CLI::App& app, WatchArguments& arguments);

// kUsage: an --owner that is no user.
[[nodiscard]] Result<shm::Target> target_of(const WatchArguments& arguments);

// What --help or --version asked for: to be printed, exit 0.
struct PrintedText {
  std::string text;
};

struct CommandLine {
  int argc;
  const char* const* argv;
};

// Nothing when the arguments are to be used. kUsage names the flag or the value in one line.
[[nodiscard]] Result<std::variant<std::monostate, PrintedText>> parse(CLI::App& app,
                                                                      const CommandLine& line);

// For --segment and the like: what is wrong with an empty path; empty for another.
std::string check_not_empty(const std::string& text);

}  // namespace vitrine::exporters
