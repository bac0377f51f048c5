// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "tools/show_screen.h"
#include "tools/status_command.h"

namespace vitrine::tools {

Command show_command() {
  const auto flags = std::make_shared<StatusFlags>();
  return {"show", "Everything about one engine on one screen", kStatusExitCodes,
          [flags](FlagSet& set) { add_status_flags(set, *flags); },
          [flags](const CommandContext& context) {
            return show_status(context, *flags, {{}, show_screen});
          }};
}

}  // namespace vitrine::tools
