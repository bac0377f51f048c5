// SPDX-License-Identifier: Apache-2.0
// The program `vitrine`: sees into an engine and gives it work.
#include <csignal>

#include "shm/standard_streams.h"
#include "tools/command_line.h"
#include "tools/diagnostics.h"
#include "tools/external_command.h"

int main(int argument_count, char** arguments) {
  using namespace vitrine::tools;
  vitrine::shm::occupy_standard_streams();
  if (const auto external = external_command_of(argument_count, arguments)) {
    const Error error = run_external_command(*external);
    Diagnostics(LogLevel::kInfo, LogFormat::kText).error(error.text);
    return static_cast<int>(error.code);
  }
  // A reader that goes away is noticed at the write (tools/output.h).
  std::signal(SIGPIPE, SIG_IGN);
  return static_cast<int>(run_command_line(argument_count, arguments));
}
