// SPDX-License-Identifier: Apache-2.0
// The first half of command_run.h: a program becomes a process.
#pragma once

#include <sys/types.h>

#include "engine/command_run.h"
#include "shm/file_descriptor.h"

namespace vitrine::engine {

struct StartedCommand {
  pid_t process = -1;          // leads its session and group; to be waited for
  shm::FileDescriptor errors;  // its standard error; reading does not block
};

[[nodiscard]] Result<StartedCommand> start_command(const Command& command);

}  // namespace vitrine::engine
