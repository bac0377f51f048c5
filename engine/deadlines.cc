// SPDX-License-Identifier: Apache-2.0
#include "engine/deadlines.h"

#include <string>
#include <vector>

#include "engine/job_lifecycle.h"
#include "engine/quantities.h"
#include "engine/scheduler_line.h"

namespace vitrine::engine {
namespace {

bool is_past(const Job& job, shm::Instant now) {
  return job.deadline.is_set() && job.deadline.ns < now.ns;
}

Failure deadline_passed(const Job& job) {
  const std::uint64_t given_ns = job.deadline.ns - job.submitted.ns;
  return {ErrorClass::kTimeout,
          "the deadline, " + duration_setting(given_ns) + " after it was submitted, has passed",
          shm::PartitionStage::kUnknown,
          {},
          {}};
}

}  // namespace

void judge_deadline(Change& change, Job& job) {
  if (job.has_missed_deadline || !is_past(job, change.now())) return;
  job.has_missed_deadline = true;
  ++job.tally->deadlines_missed;
  change.log(job, "deadline missed", {}, JournalLevel::kWarn);
}

std::uint64_t judge_deadlines(Change& change) {
  std::uint64_t next_ns = 0;
  std::vector<Job*> to_stop;
  for (Job* job : change.model().jobs.active()) {
    judge_deadline(change, *job);
    if (!job->has_missed_deadline) {
      // It is past one nanosecond later.
      if (job->deadline.is_set()) next_ns = earlier_ns(next_ns, job->deadline.ns + 1);
    } else if (job->at_deadline == Job::AtDeadline::kStop && !job->failure &&
               !job->all_partitions_final()) {
      to_stop.push_back(job);
    }
  }
  for (Job* job : to_stop) stop_job(change, *job, deadline_passed(*job));
  return next_ns;
}

}  // namespace vitrine::engine
