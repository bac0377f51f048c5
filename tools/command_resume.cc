// SPDX-License-Identifier: Apache-2.0
#include "tools/operator_command.h"

namespace vitrine::tools {

Command resume_command() {
  return operator_command({"resume", "Start work again after a pause", "resumed"});
}

}  // namespace vitrine::tools
