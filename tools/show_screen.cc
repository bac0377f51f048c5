// SPDX-License-Identifier: Apache-2.0
#include "tools/show_screen.h"

#include <limits>

namespace vitrine::tools {

std::string show_screen(const View& view) {
  constexpr std::size_t kJobsShown = 12;
  const bool is_gone = view.engine_is_gone();
  const std::size_t jobs_shown = is_gone ? std::numeric_limits<std::size_t>::max() : kJobsShown;
  std::string out = header_section(view);
  const std::string partitions = is_gone ? partitions_section(view) : "";
  for (const std::string& section :
       {devices_section(view), workers_section(view), jobs_section(view, jobs_shown), partitions,
        memory_section(view), queues_section(view), failures_section(view)}) {
    if (!section.empty()) out += "\n" + section;
  }
  return out;
}

}  // namespace vitrine::tools
