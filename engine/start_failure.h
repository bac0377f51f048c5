// SPDX-License-Identifier: Apache-2.0
// Why an engine did not start.
#pragma once

#include <string>

namespace vitrine::engine {

struct StartFailure {
  enum class Kind { kRuntime, kUsage, kInUse, kNoGpu } kind;
  std::string text;
};

// See exit_codes.h.
[[nodiscard]] int exit_code_of(StartFailure::Kind kind);

}  // namespace vitrine::engine
