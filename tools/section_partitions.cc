// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/partition_bar.h"
#include "tools/size_text.h"
#include "tools/text_table.h"
#include "tools/view.h"

namespace vitrine::tools {
namespace {

// The last mark in its life: when its present stage began.
shm::Instant stage_since(const shm::PartitionRecord& partition) {
  return shm::Instant{
      std::max({partition.created.ns, partition.synth_start.ns, partition.synth_end.ns,
                partition.gpu_queue.ns, partition.gpu_pickup.ns, partition.gpu_start.ns,
                partition.gpu_end.ns})};
}

}  // namespace

std::string partitions_section(const View& view) {
  std::vector<shm::PartitionRecord> moving;
  for (const auto& partition : view.snapshot().rows<shm::PartitionRecord>()) {
    if (!shm::is_final(partition.stage) && partition.stage != shm::PartitionStage::kPending) {
      moving.push_back(partition);
    }
  }
  std::sort(moving.begin(), moving.end(), [](const auto& a, const auto& b) {
    return std::pair(a.job.value, a.partition) < std::pair(b.job.value, b.partition);
  });
  TextTable table({{"JOB", Align::kRight},
                   {"PARTITION", Align::kRight},
                   {"STAGE"},
                   {"FOR", Align::kRight},
                   {"ATTEMPT", Align::kRight},
                   {"WORKER", Align::kRight},
                   {"HOLDS", Align::kRight}});
  for (const shm::PartitionRecord& partition : moving) {
    table.add_row({cell(std::to_string(partition.job.value)),
                   cell(std::to_string(partition.partition)),
                   cell(shm::word(partition.stage), mark_of(partition.stage).tone),
                   cell(view.age(stage_since(partition))), cell(std::to_string(partition.attempt)),
                   cell(view.number(partition.worker)), cell(size_text(partition.reserved_bytes))});
  }
  return table.empty() ? "" : table.text(view.style(), 0);
}

}  // namespace vitrine::tools
