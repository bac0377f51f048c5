// SPDX-License-Identifier: Apache-2.0
// Reads the program's arguments and runs the command that they name.
#pragma once

#include <optional>

#include "tools/command.h"
#include "tools/exit_code.h"
#include "tools/external_command.h"

namespace vitrine::tools {

// Results go to standard output, one line for each problem to standard error. A flag or value
// that is not understood is named and ends in kUsage.
ExitCode run_command_line(int argument_count, const char* const* arguments);

// The same for a program of one command, vitrine-NAME.
ExitCode run_command_program(const Command& command, int argument_count,
                             const char* const* arguments);

// The command when it can only be an external one: behind common flags at most, and not built in.
// The flags before its name go to its program too, first.
std::optional<ExternalCommand> external_command_of(int argument_count,
                                                   const char* const* arguments);

}  // namespace vitrine::tools
