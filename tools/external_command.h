// SPDX-License-Identifier: Apache-2.0
// Commands that are programs of their own: `vitrine NAME ...` becomes `vitrine-NAME ...`.
#pragma once

#include <string>
#include <vector>

#include "tools/error.h"

namespace vitrine::tools {

struct ExternalCommand {
  std::string name;
  std::vector<std::string> arguments;  // without the program's own name
};

// Replaces this process by vitrine-NAME, looked for beside this program and then on PATH. Returns
// only when that is not possible: kUsage and why.
Error run_external_command(const ExternalCommand& command);

}  // namespace vitrine::tools
