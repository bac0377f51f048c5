// SPDX-License-Identifier: Apache-2.0
// Commands that are programs of their own: `vitrine NAME ...` becomes `vitrine-NAME ...`.
#pragma once

#include <string>

#include "tools/error.h"

namespace vitrine::tools {

// Replaces this process by vitrine-NAME, looked for beside this program and then on PATH, with
// `arguments` (as execv takes them; the first is the program's own name and is replaced).
// Returns only when that is not possible: kUsage and why.
Error run_external_command(const std::string& name, char* const* arguments);

}  // namespace vitrine::tools
