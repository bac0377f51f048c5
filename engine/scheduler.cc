// SPDX-License-Identifier: Apache-2.0
#include "engine/scheduler.h"

#include <algorithm>

namespace vitrine::engine {
namespace {

using shm::WaitReason;

// What is left while the jobs are served one after the other.
class Planner {
 public:
  Planner(const SchedulerView& view, Plan& plan)
      : view_(view),
        plan_(plan),
        available_bytes_(view.available_bytes),
        synthesis_slots_(view.synthesis_slots),
        device_room_(view.device_room) {
    for (const CircuitDemand& circuit : view.circuits) {
      if (circuit.key != KeyPresence::kAbsent) hold(circuit);
    }
  }

  JobPlan serve(const JobDemand& job) {
    if (view_.gate == SchedulerView::Gate::kPaused) {
      return {JobPlan::Turn::kBehind, 0, WaitReason::kPaused, 0};
    }
    const CircuitDemand& circuit = view_.circuits[job.circuit];
    return circuit.key == KeyPresence::kReady ? serve_ready(job, circuit)
                                              : serve_without_key(job, circuit);
  }

 private:
  // Keys stay once loaded, so each must leave room for the largest partition of those beside it.
  bool fits_beside_others(const CircuitDemand& circuit) const {
    const std::uint64_t largest = std::max(largest_partition_bytes_, circuit.partition_bytes);
    return held_key_bytes_ + circuit.key_bytes + largest <= view_.total_bytes;
  }

  void hold(const CircuitDemand& circuit) {
    held_key_bytes_ += circuit.key_bytes;
    largest_partition_bytes_ = std::max(largest_partition_bytes_, circuit.partition_bytes);
  }

  JobPlan serve_without_key(const JobDemand& job, const CircuitDemand& circuit) {
    const JobPlan waits_for_key{JobPlan::Turn::kNext, 0, WaitReason::kSrs, 0};
    const bool is_coming =
        circuit.key == KeyPresence::kLoading ||
        std::find(plan_.loads.begin(), plan_.loads.end(), job.circuit) != plan_.loads.end();
    if (is_coming) return waits_for_key;
    if (!fits_beside_others(circuit)) {
      return {JobPlan::Turn::kCannotFit, 0, WaitReason::kMemory, circuit.key_bytes};
    }
    if (memory_wait_) return behind();
    if (circuit.key_bytes > available_bytes_) {
      memory_wait_ = line_closed_ = true;
      return {JobPlan::Turn::kNext, 0, WaitReason::kMemory, circuit.key_bytes};
    }
    available_bytes_ -= circuit.key_bytes;
    hold(circuit);
    plan_.loads.push_back(job.circuit);
    return waits_for_key;
  }

  JobPlan serve_ready(const JobDemand& job, const CircuitDemand& circuit) {
    if (line_closed_) return behind();
    JobPlan made{JobPlan::Turn::kNext, 0, WaitReason::kNone, 0};
    while (made.starts < job.pending) {
      made.wait = obstacle(circuit);
      if (made.wait != WaitReason::kNone) break;
      available_bytes_ -= circuit.partition_bytes;
      --synthesis_slots_;
      --device_room_;
      ++made.starts;
      made.turn = JobPlan::Turn::kStarted;
    }
    if (made.wait == WaitReason::kNone) return made;
    line_closed_ = true;
    if (made.wait == WaitReason::kMemory) {
      memory_wait_ = true;
      made.needs_bytes = circuit.partition_bytes;
    }
    return made;
  }

  WaitReason obstacle(const CircuitDemand& circuit) const {
    if (synthesis_slots_ == 0) return WaitReason::kCpu;
    if (device_room_ == 0) return WaitReason::kDevice;
    if (circuit.partition_bytes > available_bytes_) return WaitReason::kMemory;
    return WaitReason::kNone;
  }

  static JobPlan behind() { return {JobPlan::Turn::kBehind, 0, WaitReason::kCpu, 0}; }

  const SchedulerView& view_;
  Plan& plan_;
  std::uint64_t available_bytes_;
  std::uint32_t synthesis_slots_;
  std::uint32_t device_room_;
  std::uint64_t held_key_bytes_ = 0;
  std::uint64_t largest_partition_bytes_ = 0;
  bool line_closed_ = false;  // nobody behind may start a partition
  bool memory_wait_ = false;  // nobody behind may take memory
};

}  // namespace

void make_plan(const SchedulerView& view, Plan& plan) {
  plan.jobs.clear();
  plan.loads.clear();
  Planner planner(view, plan);
  for (const JobDemand& job : view.jobs) plan.jobs.push_back(planner.serve(job));
}

}  // namespace vitrine::engine
