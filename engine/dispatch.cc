// SPDX-License-Identifier: Apache-2.0
#include "engine/dispatch.h"

#include <algorithm>
#include <cassert>

#include "engine/circuit_fault.h"
#include "engine/job_lifecycle.h"
#include "engine/quantities.h"

namespace vitrine::engine {
namespace {

using shm::JobState;
using shm::PartitionStage;
using shm::WaitReason;

std::uint32_t room(std::uint32_t capacity, std::size_t used) {
  return capacity > used ? capacity - static_cast<std::uint32_t>(used) : 0;
}

void fill_circuits(const EngineModel& model, PlanningSpace& space) {
  space.circuits.clear();
  for (const Circuit& circuit : model.keys.circuits()) {
    space.circuits.push_back({circuit.presence(), circuit.key_bytes(), circuit.working.total()});
  }
}

// The facts of the moment, in the scheduler's terms; `waiting` are the jobs of its view.
SchedulerView view_of(EngineModel& model, PlanningSpace& space) {
  space.demands.clear();
  space.waiting.clear();
  fill_circuits(model, space);
  for (Job* job : model.jobs.active()) {
    if (job->pending() == 0 || !job->may_start()) continue;
    space.waiting.push_back(job);
    space.demands.push_back({job->circuit->row, job->pending()});
  }
  const std::size_t synthesizing =
      model.granted.size() + model.in_stage(PartitionStage::kSynthesizing);
  SchedulerView view;
  view.circuits = space.circuits;
  view.jobs = space.demands;
  view.total_bytes = model.budget.total_bytes();
  view.available_bytes = model.budget.available_bytes();
  view.synthesis_slots = room(model.facts.synthesis_limit, synthesizing);
  view.device_room =
      room(model.facts.device_queue_capacity, synthesizing + model.device_queue.size());
  view.gate = model.paused ? SchedulerView::Gate::kPaused : SchedulerView::Gate::kOpen;
  return view;
}

void begin_load(Change& change, Circuit& circuit) {
  EngineModel& model = change.model();
  const bool has_begun = model.keys.begin_load(circuit, model.budget, change.now());
  assert(has_begun && "the plan counted these bytes");
  (void)has_begun;
  change.publish().key_loading(circuit);
  change.log("key loading", circuit.configuration.id);
}

void drop_doubted_keys(Change& change) {
  EngineModel& model = change.model();
  for (Circuit& circuit : model.keys.circuits()) {
    auto key = model.keys.drop_doubted(circuit, change.now());
    if (!key) continue;
    change.dispose(std::move(key));
    change.publish().key_dropped(circuit);
    change.log("key dropped", circuit.configuration.id + ": it is read again for the next job");
  }
}

void admit(Change& change, Job& job) {
  if (job.state != JobState::kQueued) return;
  set_state(job, JobState::kAdmitting);
  change.model().keys.count_use(*job.circuit);
  change.publish().job_considered(job);
}

// The first partition waits for what the plan says, the others for their turn; a missing key or a
// pause holds all of them alike.
void tell_partitions(Change& change, Job& job, const WaitState& head) {
  const bool concerns_all = head.reason == WaitReason::kSrs || head.reason == WaitReason::kPaused;
  const WaitState turn{WaitReason::kCpu, change.now(), 0, 0};
  for (std::uint32_t number = job.next_pending; number < job.partition_count(); ++number) {
    Partition& partition = job.partitions[number];
    const bool is_concerned = concerns_all || number == job.next_pending;
    if (partition.wait.turn_to(is_concerned ? head : turn)) {
      change.publish().partition_waits(partition);
    }
  }
}

void tell_wait(Change& change, Job& job, const JobPlan& plan) {
  const std::uint64_t available_bytes =
      plan.wait == WaitReason::kMemory ? change.model().budget.available_bytes() : 0;
  const WaitState wait{plan.wait, change.now(), plan.needs_bytes, available_bytes};
  if (job.state != JobState::kRunning && job.wait.turn_to(wait)) change.publish().job_waits(job);
  tell_partitions(change, job, wait);
  if (plan.wait == WaitReason::kMemory) {
    ++change.model().memory_waiters;
    change.model().memory_waiting_bytes += plan.needs_bytes;
  }
}

void grant(Change& change, Job& job, std::uint32_t partitions) {
  MemoryBudget& budget = change.model().budget;
  for (std::uint32_t i = 0; i < partitions; ++i) {
    auto reserved = budget.try_reserve(MemoryConsumer::kWorking, job.circuit->working.total());
    assert(reserved && "the plan counted these bytes");
    grant_partition(change, job.partitions[job.next_pending], std::move(*reserved));
  }
}

Failure cannot_fit(const EngineModel& model, const Job& job) {
  const std::uint64_t held_bytes = model.budget.reserved_bytes(MemoryConsumer::kSrs) +
                                   model.budget.reserved_bytes(MemoryConsumer::kPce);
  return {ErrorClass::kOutOfMemory,
          "the key of circuit " + job.circuit->configuration.id + " needs " +
              size_text(job.circuit->key_bytes()) + ", but loaded keys hold " +
              size_text(held_bytes) + " of the " + size_text(model.budget.total_bytes()) +
              " of the budget",
          PartitionStage::kPending,
          0,
          {}};
}

// True when a job had to be stopped, which may let others go on.
bool carry_out(Change& change, const PlanningSpace& space) {
  EngineModel& model = change.model();
  bool has_stopped = false;
  model.memory_waiters = 0;
  model.memory_waiting_bytes = 0;
  for (std::size_t i = 0; i < space.waiting.size(); ++i) {
    const JobPlan& plan = space.plan.jobs[i];
    if (plan.turn != JobPlan::Turn::kBehind) admit(change, *space.waiting[i]);
  }
  for (const std::uint32_t row : space.plan.loads) begin_load(change, model.keys.circuits()[row]);
  for (std::size_t i = 0; i < space.waiting.size(); ++i) {
    Job& job = *space.waiting[i];
    const JobPlan& plan = space.plan.jobs[i];
    if (plan.turn == JobPlan::Turn::kCannotFit) {
      stop_job(change, job, cannot_fit(model, job));
      has_stopped = true;
      continue;
    }
    grant(change, job, plan.starts);
    if (plan.wait != WaitReason::kNone) tell_wait(change, job, plan);
  }
  return has_stopped;
}

void update_peaks(EngineModel& model) {
  QueuePeaks& peaks = model.peaks;
  peaks.jobs = std::max(peaks.jobs, model.waiting_jobs());
  peaks.synthesis = std::max(peaks.synthesis, model.in_stage(PartitionStage::kPending));
  peaks.synthesizing = std::max(peaks.synthesizing, model.in_stage(PartitionStage::kSynthesizing));
  std::uint32_t in_kernels = 0;
  for (const Device& device : model.devices) in_kernels += device.in_kernels != nullptr;
  peaks.kernels = std::max(peaks.kernels, in_kernels);
  peaks.device = std::max(peaks.device, static_cast<std::uint32_t>(model.device_queue.size()));
}

}  // namespace

void dispatch(Change& change) {
  EngineModel& model = change.model();
  drop_doubted_keys(change);
  update_peaks(model);
  PlanningSpace& space = model.planning;
  do {
    make_plan(view_of(model, space), space.plan);
  } while (carry_out(change, space));
}

bool is_to_be_resident(const EngineModel& model, const Circuit& circuit) {
  return circuit.configuration.keep_resident && !lasting_refusal(model, circuit);
}

bool resident_key_fits(EngineModel& model, const Circuit& circuit) {
  fill_circuits(model, model.planning);
  return key_fits(model.planning.circuits, circuit.row, model.budget.total_bytes());
}

void load_resident_keys(Change& change) {
  EngineModel& model = change.model();
  for (Circuit& circuit : model.keys.circuits()) {
    if (!is_to_be_resident(model, circuit)) continue;
    if (resident_key_fits(model, circuit)) {
      begin_load(change, circuit);
      continue;
    }
    change.log("key does not fit beside the others", circuit.configuration.id, JournalLevel::kWarn);
  }
}

}  // namespace vitrine::engine
