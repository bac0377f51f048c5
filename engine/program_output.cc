// SPDX-License-Identifier: Apache-2.0
#include "engine/program_output.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "engine/exit_codes.h"
#include "shm/printable_text.h"

namespace vitrine::engine {

Result<void> print_output(std::string_view text) {
  ::signal(SIGPIPE, SIG_IGN);  // so that the write tells
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      return {};
    } else if (errno != EINTR) {
      return Error{ErrorClass::kInternal,
                   std::string("writing the output: ") + std::strerror(errno)};
    }
  }
  return {};
}

int finish_with_output(const CLI::App& app, std::string_view text) {
  const auto printed = print_output(text);
  return printed ? kExitDone : report_failure(app, printed.error().text, kExitFailed);
}

void print_line(const CLI::App& app, std::string_view text) {
  std::cerr << app.get_name() + ": " + shm::printable_text(text) + "\n";
}

int report_failure(const CLI::App& app, std::string_view text, int exit_code) {
  print_line(app, text);
  return exit_code;
}

}  // namespace vitrine::engine
