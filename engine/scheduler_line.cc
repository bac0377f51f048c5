// SPDX-License-Identifier: Apache-2.0
#include "engine/scheduler_line.h"

#include <algorithm>
#include <span>

namespace vitrine::engine {
namespace {

using shm::WaitReason;
using Turn = JobPlan::Turn;

UrgencyClock clock_of(const SchedulerView& view) {
  return {view.now_ns, view.rules.starvation_limit_ns};
}

// What may share a batch stands together, the most urgent first.
bool is_collected_before(const SchedulerView& view, std::uint32_t one, std::uint32_t other) {
  const JobDemand& a = view.jobs[one];
  const JobDemand& b = view.jobs[other];
  if (a.circuit != b.circuit) return a.circuit < b.circuit;
  if (a.urgency.priority != b.urgency.priority) return a.urgency.priority > b.urgency.priority;
  const Urgency urgency = plain_urgency_of(a.urgency);
  const Urgency than = plain_urgency_of(b.urgency);
  if (urgency.comes_before(than)) return true;
  return !than.comes_before(urgency) && one < other;
}

bool may_share_batch(const JobDemand& one, const JobDemand& other) {
  return one.circuit == other.circuit && one.urgency.priority == other.urgency.priority;
}

void release(std::span<const std::uint32_t> jobs, Plan& plan) {
  ++plan.last_batch;
  for (const std::uint32_t job : jobs) plan.jobs[job].batch = plan.last_batch;
}

// Jobs that may share a batch: full ones go, the rest when its oldest has waited long enough.
void collect_group(const SchedulerView& view, std::span<const std::uint32_t> group, Plan& plan) {
  while (group.size() >= view.rules.max_batch_size) {
    release(group.first(view.rules.max_batch_size), plan);
    group = group.subspan(view.rules.max_batch_size);
  }
  if (group.empty()) return;
  std::uint64_t oldest_ns = view.jobs[group[0]].urgency.submitted_ns;
  for (const std::uint32_t job : group) {
    oldest_ns = std::min(oldest_ns, view.jobs[job].urgency.submitted_ns);
  }
  const std::uint64_t until_ns = oldest_ns + view.rules.max_batch_wait_ns;
  if (until_ns <= view.now_ns) return release(group, plan);
  plan.wake_at_ns = earlier_ns(plan.wake_at_ns, until_ns);
  for (const std::uint32_t job : group) {
    plan.jobs[job].turn = Turn::kHeld;
    plan.jobs[job].wait = WaitReason::kBatch;
  }
}

// Every place gets the urgency of the most urgent of its batch.
void unite_batches(std::vector<LinePlace>& line) {
  std::sort(line.begin(), line.end(), [](const LinePlace& a, const LinePlace& b) {
    return a.batch != b.batch ? a.batch < b.batch : a.own.comes_before(b.own);
  });
  for (std::size_t i = 1; i < line.size(); ++i) {
    const bool is_same = line[i].batch != 0 && line[i].batch == line[i - 1].batch;
    if (is_same) line[i].unit = line[i - 1].unit;
  }
}

bool stands_before(const LinePlace& a, const LinePlace& b) {
  if (a.unit.comes_before(b.unit)) return true;
  if (b.unit.comes_before(a.unit)) return false;
  if (a.batch != b.batch) return a.batch < b.batch;
  if (a.own.comes_before(b.own)) return true;
  if (b.own.comes_before(a.own)) return false;
  return a.job < b.job;
}

}  // namespace

std::uint64_t earlier_ns(std::uint64_t one_ns, std::uint64_t other_ns) {
  if (one_ns == 0 || other_ns == 0) return std::max(one_ns, other_ns);
  return std::min(one_ns, other_ns);
}

void collect_batches(const SchedulerView& view, Plan& plan) {
  plan.last_batch = view.last_batch;
  plan.collected.clear();
  for (std::uint32_t i = 0; i < view.jobs.size(); ++i) {
    const JobDemand& job = view.jobs[i];
    plan.jobs[i].batch = job.batch;
    const bool is_collected = view.rules.max_batch_size > 1 && job.batch == 0 &&
                              job.urgency.priority != shm::Priority::kCritical;
    if (is_collected) plan.collected.push_back(i);
  }
  std::sort(plan.collected.begin(), plan.collected.end(),
            [&](std::uint32_t one, std::uint32_t other) {
              return is_collected_before(view, one, other);
            });
  const std::span<const std::uint32_t> jobs = plan.collected;
  for (std::size_t begin = 0, end = 0; begin < jobs.size(); begin = end) {
    while (end < jobs.size() && may_share_batch(view.jobs[jobs[begin]], view.jobs[jobs[end]])) {
      ++end;
    }
    collect_group(view, jobs.subspan(begin, end - begin), plan);
  }
}

void form_line(const SchedulerView& view, Plan& plan) {
  plan.line.clear();
  const UrgencyClock clock = clock_of(view);
  for (std::uint32_t i = 0; i < view.jobs.size(); ++i) {
    if (plan.jobs[i].turn == Turn::kHeld) continue;
    const JobDemand& job = view.jobs[i];
    const Urgency plain = plain_urgency_of(job.urgency);
    plan.line.push_back({i, job.pending, plan.jobs[i].batch, plain, plain});
    if (is_overdue(job.urgency, clock)) {
      const Urgency overdue = urgency_of(job.urgency, clock);
      plan.line.push_back({i, 1, 0, overdue, overdue});
    } else {
      plan.wake_at_ns = earlier_ns(plan.wake_at_ns, overdue_at_ns(job.urgency, clock));
    }
  }
  if (view.rules.max_batch_size > 1) unite_batches(plan.line);
  std::sort(plan.line.begin(), plan.line.end(), stands_before);
}

}  // namespace vitrine::engine
