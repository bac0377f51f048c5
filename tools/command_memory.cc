// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "tools/status_command.h"

namespace vitrine::tools {
namespace {

std::string memory_screen(const View& view) {
  const std::string memory = memory_section(view);
  const std::string allocations = allocations_section(view);
  if (memory.empty()) return "no memory budget\n";
  return allocations.empty() ? memory : memory + "\n" + allocations;
}

}  // namespace

Command memory_command() {
  const auto flags = std::make_shared<StatusFlags>();
  return {"memory", "The memory budget and who holds it", kStatusExitCodes,
          [flags](FlagSet& set) { add_status_flags(set, *flags); },
          [flags](const CommandContext& context) {
            return show_status(context, *flags, {{"memory", "allocations"}, memory_screen});
          }};
}

}  // namespace vitrine::tools
