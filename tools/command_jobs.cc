// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <memory>

#include "tools/status_command.h"

namespace vitrine::tools {
namespace {

std::string jobs_screen(const View& view) {
  const std::string jobs = jobs_section(view, std::numeric_limits<std::size_t>::max());
  return jobs.empty() ? "no jobs\n" : jobs;
}

}  // namespace

Command jobs_command() {
  const auto flags = std::make_shared<StatusFlags>();
  return {"jobs", "The jobs, with the stage of every partition", kStatusExitCodes,
          [flags](FlagSet& set) { add_status_flags(set, *flags); },
          [flags](const CommandContext& context) {
            return show_status(context, *flags, {{"jobs", "partitions"}, jobs_screen});
          }};
}

}  // namespace vitrine::tools
