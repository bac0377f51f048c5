// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/size_text.h"
#include "tools/text_table.h"
#include "tools/view.h"

namespace vitrine::tools {
namespace {

constexpr std::uint64_t kStepNs = 60'000'000'000;

// The newest, and before it one a minute; oldest first.
std::vector<shm::HistorySample> thinned(const std::vector<shm::HistorySample>& history) {
  std::vector<shm::HistorySample> kept;
  for (auto sample = history.rbegin(); sample != history.rend(); ++sample) {
    const bool is_due = kept.empty() || (sample->time.ns <= kept.back().time.ns &&
                                         kept.back().time.ns - sample->time.ns >= kStepNs);
    if (is_due) kept.push_back(*sample);
  }
  std::ranges::reverse(kept);
  return kept;
}

}  // namespace

std::string history_section(const View& view, const std::vector<shm::HistorySample>& history) {
  TextTable table({{"BEFORE", Align::kRight},
                   {"ACTIVE", Align::kRight},
                   {"WAITING", Align::kRight},
                   {"SYNTHESIS", Align::kRight},
                   {"QUEUED", Align::kRight},
                   {"ON DEVICE", Align::kRight},
                   {"RESERVED", Align::kRight},
                   {"RESIDENT", Align::kRight},
                   {"JOBS DONE", Align::kRight},
                   {"FAILED", Align::kRight}});
  for (const shm::HistorySample& sample : thinned(history)) {
    table.add_row({cell(view.age(sample.time)), cell(std::to_string(sample.jobs_active)),
                   cell(std::to_string(sample.jobs_waiting)),
                   cell(std::to_string(sample.partitions_synthesizing)),
                   cell(std::to_string(sample.partitions_gpu_queued)),
                   cell(std::to_string(sample.partitions_on_device)),
                   cell(size_text(sample.reserved_bytes)), cell(size_text(sample.resident_bytes)),
                   cell(std::to_string(sample.jobs_done)),
                   cell(std::to_string(sample.jobs_failed))});
  }
  return table.empty() ? "" : table.text(view.style(), 0);
}

}  // namespace vitrine::tools
