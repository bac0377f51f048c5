// SPDX-License-Identifier: Apache-2.0
#include "engine/scheduler.h"

#include <algorithm>

#include "engine/key_eviction.h"
#include "engine/scheduler_line.h"

namespace vitrine::engine {
namespace {

using shm::WaitReason;
using Turn = JobPlan::Turn;

std::uint64_t less(std::uint64_t bytes, std::uint64_t subtracted) {
  return bytes > subtracted ? bytes - subtracted : 0;
}

// What is left while the jobs are served one after the other.
class Planner {
 public:
  Planner(const SchedulerView& view, Plan& plan)
      : view_(view),
        plan_(plan),
        eviction_(view, plan),
        available_bytes_(view.available_bytes),
        synthesis_slots_(view.synthesis_slots),
        device_room_(view.device_room),
        critical_room_(view.critical_room),
        loaders_(view.loaders),
        critical_loaders_(view.critical_loaders) {
    for (const CircuitDemand& circuit : view.circuits) {
      if (circuit.is_kept) kept_bytes_ += circuit.key_bytes;
    }
  }

  void serve(const LinePlace& place) {
    const JobDemand& job = view_.jobs[place.job];
    JobPlan& made = plan_.jobs[place.job];
    const bool was_stopped = made.turn == Turn::kNext || made.turn == Turn::kCannotFit;
    if (was_stopped) return;  // at an earlier place
    const std::uint32_t most = std::min(place.most, job.pending - made.starts);
    if (most == 0) return;
    const CircuitDemand& circuit = view_.circuits[job.circuit];
    if (!can_fit(circuit)) {
      made = {Turn::kCannotFit, made.starts, WaitReason::kMemory, needed_bytes(circuit),
              made.batch};
      return;
    }
    if (circuit.key == KeyPresence::kReady) {
      serve_ready(place, most, made);
    } else {
      serve_without_key(place.job, circuit, made);
    }
    eviction_.claim(job.circuit);
  }

  // Keys that nobody waits for, once everybody is served.
  void load_wanted() {
    for (std::uint32_t number = 0; number < view_.circuits.size(); ++number) {
      const CircuitDemand& circuit = view_.circuits[number];
      if (!circuit.is_wanted || circuit.key != KeyPresence::kAbsent || is_to_load(number)) continue;
      if (memory_wait_ || loaders_ == 0) return;
      const std::uint64_t usable_bytes = less(available_bytes_, set_aside_);
      if (circuit.key_bytes <= usable_bytes) {
        begin_load(number, std::nullopt);
      } else {
        eviction_.make_room(circuit.key_bytes - usable_bytes, number);
      }
    }
  }

 private:
  bool is_to_load(std::uint32_t circuit) const {
    return std::any_of(plan_.loads.begin(), plan_.loads.end(),
                       [&](const Plan::Load& load) { return load.circuit == circuit; });
  }

  void begin_load(std::uint32_t circuit, std::optional<std::uint32_t> job) {
    available_bytes_ -= view_.circuits[circuit].key_bytes;
    // The loader kept for critical work is the last that is taken.
    --(loaders_ > 0 ? loaders_ : critical_loaders_);
    plan_.loads.push_back({circuit, job});
  }

  bool has_loader(const JobDemand& job) const {
    return loaders_ > 0 ||
           (job.urgency.priority == shm::Priority::kCritical && critical_loaders_ > 0);
  }

  // The kept keys of others never go; what they leave must be enough for this one.
  bool can_fit(const CircuitDemand& circuit) const {
    const std::uint64_t others = kept_bytes_ - (circuit.is_kept ? circuit.key_bytes : 0);
    return needed_bytes(circuit) <= less(view_.total_bytes, others);
  }
  static std::uint64_t needed_bytes(const CircuitDemand& circuit) {
    return circuit.key_bytes + circuit.partition_bytes;
  }

  void serve_without_key(std::uint32_t number, const CircuitDemand& circuit, JobPlan& made) {
    const JobDemand& job = view_.jobs[number];
    made.turn = Turn::kNext;
    made.wait = WaitReason::kSrs;
    const bool is_coming = circuit.key != KeyPresence::kAbsent || is_to_load(job.circuit);
    if (!is_coming) {
      if (!has_loader(job)) return;
      if (memory_wait_) return wait_behind(made);
      const std::uint64_t usable_bytes = less(available_bytes_, set_aside_);
      if (circuit.key_bytes > usable_bytes) {
        eviction_.make_room(circuit.key_bytes - usable_bytes, job.circuit);
        return wait_for_memory(made, circuit.key_bytes);
      }
      begin_load(job.circuit, number);
    }
    set_aside_ += circuit.partition_bytes;
  }

  void serve_ready(const LinePlace& place, std::uint32_t most, JobPlan& made) {
    const JobDemand& job = view_.jobs[place.job];
    if (line_closed_) return wait_behind(made);
    const CircuitDemand& circuit = view_.circuits[job.circuit];
    std::uint32_t starts = 0;
    WaitReason obstacle = WaitReason::kNone;
    for (; starts < most; ++starts) {
      obstacle = obstacle_of(job, circuit);
      if (obstacle != WaitReason::kNone) break;
      start_one(circuit);
    }
    if (starts > 0) {
      plan_.starts.push_back({place.job, starts});
      made.starts += starts;
      made.turn = Turn::kStarted;
    }
    if (obstacle != WaitReason::kNone) return stop_at(obstacle, job, made);
    // The rest of an overdue job waits for its turn at its other place.
    made.wait = made.starts < job.pending ? WaitReason::kCpu : WaitReason::kNone;
  }

  void start_one(const CircuitDemand& circuit) {
    available_bytes_ -= circuit.partition_bytes;
    --synthesis_slots_;
    --(device_room_ > 0 ? device_room_ : critical_room_);
  }

  // The first that cannot go on closes the line.
  void stop_at(WaitReason obstacle, const JobDemand& job, JobPlan& made) {
    const CircuitDemand& circuit = view_.circuits[job.circuit];
    line_closed_ = true;
    if (made.starts == 0) made.turn = Turn::kNext;
    made.wait = obstacle;
    if (obstacle != WaitReason::kMemory) {
      set_aside_ += circuit.partition_bytes;
      return;
    }
    eviction_.make_room(circuit.partition_bytes - available_bytes_, job.circuit);
    wait_for_memory(made, circuit.partition_bytes);
  }

  void wait_for_memory(JobPlan& made, std::uint64_t bytes) {
    memory_wait_ = line_closed_ = true;
    made.wait = WaitReason::kMemory;
    made.needs_bytes = bytes;
  }

  WaitReason obstacle_of(const JobDemand& job, const CircuitDemand& circuit) const {
    const bool is_critical = job.urgency.priority == shm::Priority::kCritical;
    if (synthesis_slots_ == 0) return WaitReason::kCpu;
    if (device_room_ == 0 && !(is_critical && critical_room_ > 0)) return WaitReason::kDevice;
    if (circuit.partition_bytes > available_bytes_) return WaitReason::kMemory;
    return WaitReason::kNone;
  }

  static void wait_behind(JobPlan& made) {
    if (made.starts == 0) made.turn = Turn::kBehind;
    made.wait = WaitReason::kCpu;
  }

  const SchedulerView& view_;
  Plan& plan_;
  KeyEviction eviction_;
  std::uint64_t available_bytes_;
  std::uint32_t synthesis_slots_;
  std::uint32_t device_room_, critical_room_;
  std::uint32_t loaders_, critical_loaders_;
  std::uint64_t kept_bytes_ = 0;
  std::uint64_t set_aside_ = 0;  // that loads leave for partitions of more urgent jobs
  bool line_closed_ = false;     // nobody behind may start a partition
  bool memory_wait_ = false;     // nobody behind may take memory
};

}  // namespace

void make_plan(const SchedulerView& view, Plan& plan) {
  plan.jobs.assign(view.jobs.size(), {});
  plan.starts.clear();
  plan.loads.clear();
  plan.evictions.clear();
  plan.line.clear();
  plan.wake_at_ns = 0;
  plan.last_batch = view.last_batch;
  if (view.gate == SchedulerView::Gate::kPaused) {
    for (std::size_t i = 0; i < view.jobs.size(); ++i) {
      plan.jobs[i] = {Turn::kBehind, 0, WaitReason::kPaused, 0, view.jobs[i].batch};
    }
    return;
  }
  collect_batches(view, plan);
  form_line(view, plan);
  Planner planner(view, plan);
  for (const LinePlace& place : plan.line) planner.serve(place);
  planner.load_wanted();
}

}  // namespace vitrine::engine
