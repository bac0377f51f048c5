// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/job_failure_text.h"
#include "tools/text_table.h"
#include "tools/view.h"

namespace vitrine::tools {

std::string failures_section(const View& view) {
  constexpr std::size_t kShown = 5;
  std::vector<shm::JobRecord> failed;
  for (const shm::JobRecord& job : view.snapshot().rows<shm::JobRecord>()) {
    if (job.state == shm::JobState::kFailed) failed.push_back(job);
  }
  std::sort(failed.begin(), failed.end(), [](const shm::JobRecord& a, const shm::JobRecord& b) {
    return std::pair(a.finished.ns, a.job.value) > std::pair(b.finished.ns, b.job.value);
  });
  if (failed.size() > kShown) failed.resize(kShown);
  TextTable table({{"FAILED", Align::kRight}, {"AGO", Align::kRight}, {"CIRCUIT"}, {"WHY"}});
  for (const shm::JobRecord& job : failed) {
    table.add_row({cell(std::to_string(job.job.value)), cell(view.age(job.finished)),
                   cell(view.text(job.circuit.view())), cell(job_failure_text(view, job))});
  }
  return table.empty() ? "" : table.text(view.style(), 0);
}

}  // namespace vitrine::tools
