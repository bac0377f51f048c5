// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "tools/status_command.h"

namespace vitrine::tools {
namespace {

std::string workers_screen(const View& view) {
  const std::string workers = workers_section(view);
  if (workers.empty()) return "no workers\n";
  return devices_section(view) + "\n" + workers;
}

}  // namespace

Command workers_command() {
  const auto flags = std::make_shared<StatusFlags>();
  return {"workers", "The devices and the workers that feed them", kStatusExitCodes,
          [flags](FlagSet& set) { add_status_flags(set, *flags); },
          [flags](const CommandContext& context) {
            return show_status(context, *flags, {{"devices", "workers"}, workers_screen});
          }};
}

}  // namespace vitrine::tools
