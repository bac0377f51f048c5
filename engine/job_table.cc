// SPDX-License-Identifier: Apache-2.0
#include "engine/job_table.h"

#include <algorithm>
#include <cassert>

namespace vitrine::engine {
namespace {

// Free rows as a stack that hands out the lowest number first.
std::vector<std::uint32_t> all_rows(std::uint32_t count) {
  std::vector<std::uint32_t> rows(count);
  for (std::uint32_t i = 0; i < count; ++i) rows[i] = count - 1 - i;
  return rows;
}

std::uint32_t take_row(std::vector<std::uint32_t>& rows) {
  assert(!rows.empty());
  const std::uint32_t row = rows.back();
  rows.pop_back();
  return row;
}

}  // namespace

JobTable::JobTable(const Limits& limits)
    : free_job_rows_(all_rows(limits.jobs)), free_partition_rows_(all_rows(limits.partitions)) {}

bool JobTable::fits(std::uint32_t partitions) const {
  return !free_job_rows_.empty() && free_partition_rows_.size() >= partitions;
}

bool JobTable::has_room(std::uint32_t partitions) const {
  return free_job_rows_.size() + finished_.size() >= 1 &&
         free_partition_rows_.size() + recyclable_partitions_ >= partitions;
}

std::shared_ptr<Job> JobTable::take_oldest_finished(std::uint32_t partitions) {
  if (fits(partitions)) return nullptr;
  assert(!finished_.empty());
  const auto at = jobs_.find(finished_.front()->id);
  std::shared_ptr<Job> oldest = std::move(at->second);
  jobs_.erase(at);
  finished_.pop_front();
  recyclable_partitions_ -= oldest->partition_count();
  free_job_rows_.push_back(oldest->row);
  for (const Partition& partition : oldest->partitions) {
    free_partition_rows_.push_back(partition.row);
  }
  return oldest;
}

Job& JobTable::add(JobId id, std::uint32_t partitions) {
  assert(fits(partitions));
  auto owned = std::make_shared<Job>();
  Job& job = *owned;
  job.id = id;
  job.row = take_row(free_job_rows_);
  job.partitions.resize(partitions);
  for (std::uint32_t number = 0; number < partitions; ++number) {
    Partition& partition = job.partitions[number];
    partition.job = &job;
    partition.number = number;
    partition.row = take_row(free_partition_rows_);
  }
  jobs_.emplace(id, std::move(owned));
  active_.push_back(&job);
  return job;
}

Job* JobTable::find(JobId id) {
  const auto at = jobs_.find(id);
  return at == jobs_.end() ? nullptr : at->second.get();
}

const Job* JobTable::find(JobId id) const {
  const auto at = jobs_.find(id);
  return at == jobs_.end() ? nullptr : at->second.get();
}

void JobTable::retire(Job& job) {
  active_.erase(std::find(active_.begin(), active_.end(), &job));
  finished_.push_back(&job);
  recyclable_partitions_ += job.partition_count();
}

}  // namespace vitrine::engine
