// SPDX-License-Identifier: Apache-2.0
// The program `vitrine-report`, apart from `vitrine` because of the libraries that packing loads:
// they would cost every look at an engine more than the look itself.
#include <csignal>

#include "shm/standard_streams.h"
#include "tools/command_line.h"

int main(int argument_count, char** arguments) {
  vitrine::shm::occupy_standard_streams();
  // A reader that goes away is noticed at the write (tools/output.h).
  std::signal(SIGPIPE, SIG_IGN);
  return static_cast<int>(vitrine::tools::run_command_program(vitrine::tools::report_command(),
                                                              argument_count, arguments));
}
