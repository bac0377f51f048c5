// SPDX-License-Identifier: Apache-2.0
// What a command is: its name, its flags, and a function that runs once they are read.
//
// To add one: write command_NAME.cc, declare it here, name it in command_line.cc.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "shm/segment_access.h"
#include "tools/diagnostics.h"
#include "tools/error.h"
#include "tools/flag_set.h"
#include "tools/output.h"

namespace vitrine::tools {

// Flags that every command has.
struct CommonFlags {
  std::string instance = "main";
  bool is_instance_given = false;  // by a flag or the environment
  bool is_engine_flagged = false;  // --instance or --segment was given, not their environment
  std::string segment;             // empty: found by the instance's name
  shm::AttachOptions attach;
  std::string log_level = "info";
  std::string log_format = "text";
};

struct CommandContext {
  const CommonFlags& flags;
  Output& output;
  const Diagnostics& diagnostics;
};

// An error's line goes to standard error, its code becomes the program's.
struct Command {
  std::string name;
  std::string help;
  std::string exit_codes;  // in short, for its own help; docs/exit-codes.md has all
  std::function<void(FlagSet&)> add_flags;
  std::function<Result<ExitCode>(const CommandContext&)> run;
  // What its bad usage ends in, by the program's arguments; kUsage when there is none.
  std::function<ExitCode(std::span<const char* const>)> usage_code = {};
};

Command ls_command();
Command show_command();
Command jobs_command();
Command workers_command();
Command memory_command();
Command events_command();
Command conform_command();
Command check_command();
Command post_mortem_command();
Command doctor_command();
Command errors_command();
Command why_command();
Command report_command();  // of the program vitrine-report
Command schema_command();
Command gc_command();
Command record_command();
Command replay_command();
Command trace_command();
Command load_command();
Command diff_command();
Command submit_command();
Command wait_command();
Command cancel_command();
Command pause_command();
Command resume_command();
Command drain_command();
Command device_command();
Command reload_command();
Command srs_command();

}  // namespace vitrine::tools
