// SPDX-License-Identifier: Apache-2.0
// What another program says, with a bound on its time and its words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/error.h"

namespace vitrine::tools {

// Runs `arguments[0]`, looked up in PATH unless it has a slash, with nothing to read. Its standard
// output and error together, at most `limit` bytes; then, and after `deadline_ns`, it is killed.
// Errors: kFailed when it cannot be run or took too long.
Result<std::string> output_of_program(const std::vector<std::string>& arguments,
                                      std::uint64_t deadline_ns, std::size_t limit);

}  // namespace vitrine::tools
