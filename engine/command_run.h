// SPDX-License-Identifier: Apache-2.0
// Runs one program of somebody else to its end, and leaves nothing of it behind.
//
// Layout: the program leads a session and process group of its own; standard input and output are
// /dev/null, of standard error the end is kept; no other descriptor; the environment is PATH, HOME,
// TMPDIR and LANG=C; what it makes is for this user alone.
// Threads: any; the calling thread waits for the program.
// Crash: the kernel kills the program when the calling thread ends, so also when the engine is
// killed. Its children may go on until the next start ends them (leftover_processes.h).
// Why: vfork, because a fork of a process of many GiB copies its page tables, and posix_spawn sets
// neither limits nor what happens when the parent dies.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/error.h"

namespace vitrine::engine {

struct Command {
  std::filesystem::path program;
  std::vector<std::string> words;    // of its command line, the first is its own name
  std::filesystem::path folder;      // current folder, HOME and TMPDIR
  std::uint64_t file_bytes_max = 0;  // of each file that it writes
};

struct CommandEnd {
  enum class Kind { kExited, kStruck, kLate, kCancelled } kind = Kind::kExited;
  int number = 0;      // the exit code, or the signal that struck it
  std::string errors;  // the end of what it wrote to standard error, as it came
};

// Until the program ends, `deadline` has passed or `cancelled` is true; then all processes of its
// group are killed, and what has left it but still lives in `folder` (leftover_processes.h).
// Requires: no other command has that folder. Errors: kInternal, when it cannot be started.
[[nodiscard]] Result<CommandEnd> run_command(const Command& command,
                                             std::chrono::steady_clock::time_point deadline,
                                             const std::atomic<bool>& cancelled);

}  // namespace vitrine::engine
