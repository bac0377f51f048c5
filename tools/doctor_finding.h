// SPDX-License-Identifier: Apache-2.0
// What `vitrine doctor` has to say about one thing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vitrine::tools {

enum class Severity : std::uint8_t {
  kOk,       // looked at and well
  kNote,     // worth knowing
  kWarning,  // goes wrong later, or went wrong
  kProblem   // wrong now
};

// Texts may hold bytes of names and segments: they reach a terminal through printable() only.
struct Finding {
  Severity severity;
  std::string about;       // an instance, a folder, a file
  std::string text;        // one line
  std::string fix;         // the command that puts it right; empty when there is none
  bool is_unseen = false;  // it says of something only that it could not be looked at
};
using Findings = std::vector<Finding>;

}  // namespace vitrine::tools
