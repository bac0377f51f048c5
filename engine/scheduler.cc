// SPDX-License-Identifier: Apache-2.0
#include "engine/scheduler.h"

#include <algorithm>

namespace vitrine::engine {
namespace {

using shm::WaitReason;

// What keys that are there, or coming, hold and must leave free.
class HeldKeys {
 public:
  void add(const CircuitDemand& circuit) {
    key_bytes_ += circuit.key_bytes;
    largest_partition_bytes_ = std::max(largest_partition_bytes_, circuit.partition_bytes);
  }
  bool leave_room_for(const CircuitDemand& circuit, std::uint64_t total_bytes) const {
    const std::uint64_t largest = std::max(largest_partition_bytes_, circuit.partition_bytes);
    return key_bytes_ + circuit.key_bytes + largest <= total_bytes;
  }

 private:
  std::uint64_t key_bytes_ = 0;
  std::uint64_t largest_partition_bytes_ = 0;
};

HeldKeys held_keys(std::span<const CircuitDemand> circuits) {
  HeldKeys held;
  for (const CircuitDemand& circuit : circuits) {
    if (circuit.key != KeyPresence::kAbsent) held.add(circuit);
  }
  return held;
}

// What is left while the jobs are served one after the other.
class Planner {
 public:
  Planner(const SchedulerView& view, Plan& plan)
      : view_(view),
        plan_(plan),
        available_bytes_(view.available_bytes),
        synthesis_slots_(view.synthesis_slots),
        device_room_(view.device_room),
        held_keys_(held_keys(view.circuits)) {}

  JobPlan serve(const JobDemand& job) {
    if (view_.gate == SchedulerView::Gate::kPaused) {
      return {JobPlan::Turn::kBehind, 0, WaitReason::kPaused, 0};
    }
    const CircuitDemand& circuit = view_.circuits[job.circuit];
    return circuit.key == KeyPresence::kReady ? serve_ready(job, circuit)
                                              : serve_without_key(job, circuit);
  }

 private:
  JobPlan serve_without_key(const JobDemand& job, const CircuitDemand& circuit) {
    const JobPlan waits_for_key{JobPlan::Turn::kNext, 0, WaitReason::kSrs, 0};
    const bool is_coming =
        circuit.key == KeyPresence::kLoading ||
        std::find(plan_.loads.begin(), plan_.loads.end(), job.circuit) != plan_.loads.end();
    if (is_coming) return waits_for_key;
    if (!held_keys_.leave_room_for(circuit, view_.total_bytes)) {
      return {JobPlan::Turn::kCannotFit, 0, WaitReason::kMemory, circuit.key_bytes};
    }
    if (memory_wait_) return behind();
    if (circuit.key_bytes > available_bytes_) {
      memory_wait_ = line_closed_ = true;
      return {JobPlan::Turn::kNext, 0, WaitReason::kMemory, circuit.key_bytes};
    }
    available_bytes_ -= circuit.key_bytes;
    held_keys_.add(circuit);
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
  HeldKeys held_keys_;
  bool line_closed_ = false;  // nobody behind may start a partition
  bool memory_wait_ = false;  // nobody behind may take memory
};

}  // namespace

bool key_fits(std::span<const CircuitDemand> circuits, std::uint32_t number,
              std::uint64_t total_bytes) {
  return held_keys(circuits).leave_room_for(circuits[number], total_bytes);
}

void make_plan(const SchedulerView& view, Plan& plan) {
  plan.jobs.clear();
  plan.loads.clear();
  Planner planner(view, plan);
  for (const JobDemand& job : view.jobs) plan.jobs.push_back(planner.serve(job));
}

}  // namespace vitrine::engine
