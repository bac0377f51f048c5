// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/text_table.h"
#include "tools/view.h"

namespace vitrine::tools {

std::string errors_section(const View& view) {
  std::vector<shm::ErrorRecord> errors = view.snapshot().rows<shm::ErrorRecord>();
  std::ranges::stable_sort(errors, [](const shm::ErrorRecord& a, const shm::ErrorRecord& b) {
    return a.last.ns > b.last.ns;
  });
  TextTable table({{"ERRORS", Align::kRight},
                   {"LAST", Align::kRight},
                   {"FIRST", Align::kRight},
                   {"CLASS"},
                   {"JOB", Align::kRight},
                   {"WHAT"}});
  for (const shm::ErrorRecord& error : errors) {
    const std::string job = error.job.value == 0 ? "-" : std::to_string(error.job.value);
    table.add_row({cell(std::to_string(error.count)), cell(view.age(error.last)),
                   cell(view.age(error.first)), cell(shm::word(error.failure_class)), cell(job),
                   cell(view.text(error.text.view()), Tone::kBad)});
  }
  return table.empty() ? "" : table.text(view.style(), 0);
}

}  // namespace vitrine::tools
