// SPDX-License-Identifier: Apache-2.0
#include "tools/operator_command.h"

namespace vitrine::tools {

Command drain_command() {
  return operator_command({"drain", "Take no new jobs, let what runs end, then stop the engine",
                           "draining: the engine ends when nothing runs any more"});
}

}  // namespace vitrine::tools
