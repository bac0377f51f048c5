// SPDX-License-Identifier: Apache-2.0
// A command that tells a running engine to do something and needs no more than a name for it.
#pragma once

#include <string>

#include "tools/command.h"

namespace vitrine::tools {

struct OperatorOrder {
  std::string name;  // of the command, and of the resource /v1/NAME
  std::string help;
  std::string answer;  // one line, once the engine has accepted it
};

Command operator_command(const OperatorOrder& order);

}  // namespace vitrine::tools
