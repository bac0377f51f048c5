// SPDX-License-Identifier: Apache-2.0
#include "tools/operator_command.h"

namespace vitrine::tools {

Command pause_command() {
  return operator_command(
      {"pause",
       "Let what runs go on, and start nothing more, until 'vitrine resume' or the engine ends",
       "paused: nothing more starts until 'vitrine resume'"});
}

}  // namespace vitrine::tools
