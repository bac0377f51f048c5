// SPDX-License-Identifier: Apache-2.0
// Runs a program as a person would, and keeps what it said.
#pragma once

#include <string>
#include <vector>

namespace vitrine::tests {

struct ProgramRun {
  int exit_code = -1;  // 128 + the signal's number when it was killed
  std::string output;
  std::string error;

  bool error_is_one_line() const;
};

// `arguments[0]` is a path. `environment` is added to this process's own, as NAME=VALUE. Ends the
// program after 30 s.
ProgramRun run_program(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment = {});

// The built program `vitrine` with these arguments, in the C locale.
ProgramRun run_vitrine(std::vector<std::string> arguments,
                       const std::vector<std::string>& environment = {});

}  // namespace vitrine::tests
