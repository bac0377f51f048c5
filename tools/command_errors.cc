// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "tools/status_command.h"

namespace vitrine::tools {
namespace {

std::string errors_screen(const View& view) {
  const std::string errors = errors_section(view);
  return errors.empty() ? "no errors\n" : errors;
}

}  // namespace

Command errors_command() {
  const auto flags = std::make_shared<StatusFlags>();
  return {"errors", "Distinct errors: how often, when last and first, what", kStatusExitCodes,
          [flags](FlagSet& set) { add_status_flags(set, *flags); },
          [flags](const CommandContext& context) {
            return show_status(context, *flags, {{"errors"}, errors_screen});
          }};
}

}  // namespace vitrine::tools
