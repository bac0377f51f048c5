// SPDX-License-Identifier: Apache-2.0
#include "exporters/program_frame.h"

#include <cerrno>
#include <cstring>
#include <iostream>

#include "shm/printable_text.h"

namespace vitrine::exporters {

sigset_t block_signals(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : signals) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return set;
}

Result<void> print(const std::string& text) {
  std::cout << text << std::flush;
  if (std::cout || errno == EPIPE) return {};
  return Error{ErrorKind::kRuntime, std::string("writing the output: ") + std::strerror(errno)};
}

int end_program(const std::string& program, const Result<void>& result) {
  if (result) return 0;
  std::cerr << program + ": " + shm::printable_text(result.error().text) + "\n";
  return result.error().kind == ErrorKind::kUsage ? 2 : 1;
}

}  // namespace vitrine::exporters
