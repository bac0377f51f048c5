// SPDX-License-Identifier: Apache-2.0
// JobTable: all jobs the engine knows, and which rows of the status plane they have.
//
// Threads: the engine's state mutex is held around every call.
// Why: a job's memory lives as long as its row (longer only for a lost device's worker), so both
// are bounded by the segment's capacity, and a finished job stays visible until its rows are
// needed, oldest first.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/job.h"

namespace vitrine::engine {

class JobTable {
 public:
  struct Limits {
    std::uint32_t jobs = 512;
    std::uint32_t partitions = 4096;
  };

  explicit JobTable(const Limits& limits);

  // False when a job and its partitions cannot have rows even if every finished job gave up
  // its own.
  [[nodiscard]] bool has_room(std::uint32_t partitions) const;
  [[nodiscard]] bool has_free_row() const { return !free_job_rows_.empty(); }
  // Rows of jobs that finished ones could not give up.
  [[nodiscard]] std::size_t rows_in_use() const { return active_.size(); }
  [[nodiscard]] std::size_t row_capacity() const { return jobs_.size() + free_job_rows_.size(); }
  // The finished job that has to make room next so that `partitions` partitions fit; none when they
  // fit already. Requires has_room(partitions).
  [[nodiscard]] std::shared_ptr<Job> take_oldest_finished(std::uint32_t partitions);
  // A job with rows, in state unknown. Requires that they fit.
  Job& add(JobId id, std::uint32_t partitions);

  [[nodiscard]] Job* find(JobId id);
  [[nodiscard]] const Job* find(JobId id) const;
  // Jobs that are not final, oldest first.
  [[nodiscard]] const std::vector<Job*>& active() const { return active_; }
  // All jobs, oldest first.
  [[nodiscard]] const std::map<JobId, std::shared_ptr<Job>>& all() const { return jobs_; }
  // Moves a job that has become final to the finished ones.
  void retire(Job& job);

 private:
  [[nodiscard]] bool fits(std::uint32_t partitions) const;

  std::map<JobId, std::shared_ptr<Job>> jobs_;
  std::vector<Job*> active_;
  std::deque<Job*> finished_;  // oldest end first
  std::vector<std::uint32_t> free_job_rows_, free_partition_rows_;
  std::uint32_t recyclable_partitions_ = 0;  // rows of finished jobs
};

}  // namespace vitrine::engine
