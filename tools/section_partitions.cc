// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

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

bool is_resting(shm::PartitionStage stage) {
  return stage == shm::PartitionStage::kPending || shm::is_final(stage);
}

// One line for both: neighbours that wait or that are over, alike.
bool share_a_line(const shm::PartitionRecord& a, const shm::PartitionRecord& b) {
  return a.job == b.job && a.partition + 1 == b.partition && a.stage == b.stage &&
         a.stage_name.view() == b.stage_name.view() && a.attempt == b.attempt &&
         is_resting(a.stage);
}

// The partitions of jobs that had not ended, in order.
std::vector<shm::PartitionRecord> unfinished_partitions(const shm::Snapshot& snapshot) {
  std::set<std::uint64_t> finished;
  for (const auto& job : snapshot.rows<shm::JobRecord>()) {
    if (shm::is_final(job.state)) finished.insert(job.job.value);
  }
  std::vector<shm::PartitionRecord> partitions;
  for (const auto& partition : snapshot.rows<shm::PartitionRecord>()) {
    if (finished.count(partition.job.value) == 0) partitions.push_back(partition);
  }
  std::sort(partitions.begin(), partitions.end(), [](const auto& a, const auto& b) {
    return std::pair(a.job.value, a.partition) < std::pair(b.job.value, b.partition);
  });
  return partitions;
}

std::vector<Cell> row_of(const View& view, const shm::PartitionRecord& first, std::uint32_t last) {
  const bool is_group = last != first.partition;
  std::string numbers = std::to_string(first.partition);
  if (is_group) numbers += ".." + std::to_string(last);
  const bool is_over = shm::is_final(first.stage);
  return {cell(std::to_string(first.job.value)),
          cell(numbers),
          cell(view.stage(first), mark_of(first.stage).tone),
          cell(is_group || is_over ? "-" : view.age(stage_since(first))),
          cell(std::to_string(first.attempt)),
          cell(is_group || is_over ? "-" : view.number(first.worker)),
          cell(is_group ? "-" : size_text(first.reserved_bytes))};
}

}  // namespace

std::string partitions_section(const View& view) {
  const auto partitions = unfinished_partitions(view.snapshot());
  TextTable table({{"JOB", Align::kRight},
                   {"PARTITION", Align::kRight},
                   {"STAGE"},
                   {"FOR", Align::kRight},
                   {"ATTEMPT", Align::kRight},
                   {"WORKER", Align::kRight},
                   {"HOLDS", Align::kRight}});
  for (std::size_t i = 0; i < partitions.size();) {
    const std::size_t first = i;
    do ++i;
    while (i < partitions.size() && share_a_line(partitions[i - 1], partitions[i]));
    table.add_row(row_of(view, partitions[first], partitions[i - 1].partition));
  }
  return table.empty() ? "" : table.text(view.style(), 0);
}

}  // namespace vitrine::tools
