// SPDX-License-Identifier: Apache-2.0
#include "engine/dispatch.h"

#include <algorithm>
#include <cassert>

#include "engine/circuit_changes.h"
#include "engine/deadlines.h"
#include "engine/device_eligibility.h"
#include "engine/job_lifecycle.h"
#include "engine/quantities.h"
#include "engine/resident_keys.h"
#include "engine/scheduler_line.h"

namespace vitrine::engine {
namespace {

using shm::JobState;
using shm::PartitionStage;
using shm::WaitReason;

std::uint32_t room(std::uint32_t capacity, std::size_t used) {
  return capacity > used ? capacity - static_cast<std::uint32_t>(used) : 0;
}

CircuitDemand demand_of(const Circuit& circuit) {
  return {circuit.presence(),      circuit.key_bytes(), circuit.working.total(), circuit.references,
          circuit.idle_since().ns, circuit.is_kept,     circuit.is_wanted};
}

JobDemand demand_of(const Job& job) {
  const UrgencyFacts urgency{job.priority, job.deadline.ns, job.submitted.ns, job.waiting_since.ns};
  return {job.circuit->place, job.pending(), urgency, job.batch};
}

void fill_resources(SchedulerView& view, const EngineModel& model) {
  const std::size_t synthesizing = model.granted.size() + model.synthesizing();
  const std::size_t before_devices = synthesizing + model.device_queue.size();
  const std::uint32_t capacity = model.facts.device_queue_capacity;
  view.total_bytes = model.budget.total_bytes();
  view.available_bytes = model.budget.available_bytes();
  view.synthesis_slots = room(model.facts.synthesis_limit, synthesizing);
  // Before devices of which none takes work nothing is prepared.
  if (any_takes_work(model.devices)) {
    view.device_room = room(capacity, before_devices);
    view.critical_room =
        room(capacity + kCriticalPlaces, std::max<std::size_t>(capacity, before_devices));
  }
  const std::uint32_t loading = model.keys.loads_begun();
  const std::uint32_t loaders = model.facts.key_loaders;
  view.loaders = room(loaders, loading);
  view.critical_loaders = room(loaders + kCriticalLoaders, std::max(loaders, loading));
}

// The facts of the moment, in the scheduler's terms; `waiting` are the jobs of its view.
SchedulerView view_of(EngineModel& model, PlanningSpace& space, shm::Instant now) {
  space.circuits.clear();
  space.demands.clear();
  space.waiting.clear();
  for (const Circuit& circuit : model.keys.circuits()) space.circuits.push_back(demand_of(circuit));
  for (Job* job : model.jobs.active()) {
    if (job->pending() == 0 || !job->may_start()) continue;
    space.waiting.push_back(job);
    space.demands.push_back(demand_of(*job));
  }
  SchedulerView view;
  view.circuits = space.circuits;
  view.jobs = space.demands;
  fill_resources(view, model);
  view.gate = model.paused ? SchedulerView::Gate::kPaused : SchedulerView::Gate::kOpen;
  view.now_ns = now.ns;
  view.last_batch = model.last_batch;
  view.rules = model.facts.rules;
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

void begin_load_for(Change& change, Circuit& circuit, Job* job) {
  if (job != nullptr) {
    job->asked_for_key = true;
    circuit.srs.count_miss();
    circuit.pce.count_miss();
  }
  begin_load(change, circuit);
}

void begin_eviction(Change& change, Circuit& circuit) {
  change.model().keys.begin_eviction(circuit, change.now());
  change.publish().key_leaving(circuit);
  change.log("key evicted", circuit.configuration.id + ": its memory is wanted for others");
}

void admit(Change& change, Job& job) {
  if (job.state != JobState::kQueued) return;
  set_state(job, JobState::kAdmitting);
  change.publish().job_considered(job);
}

// The first partition waits for what the plan says, the others for their turn; a missing key, a
// batch or a pause holds all of them alike.
void tell_partitions(Change& change, Job& job, const WaitState& head) {
  const bool concerns_all = head.reason == WaitReason::kSrs || head.reason == WaitReason::kPaused ||
                            head.reason == WaitReason::kBatch;
  const WaitState turn{WaitReason::kCpu, change.now(), 0, 0};
  for (std::uint32_t ahead = 0; ahead < job.pending(); ++ahead) {
    Partition& partition = job.partitions[job.to_start(ahead)];
    const bool is_concerned = concerns_all || ahead == 0;
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
    grant_partition(change, job.partitions[job.to_start()], std::move(*reserved));
  }
}

Failure cannot_fit(const EngineModel& model, const Job& job, std::uint64_t needs_bytes) {
  return {ErrorClass::kOutOfMemory,
          "circuit " + job.circuit->configuration.id + " needs " + size_text(needs_bytes) +
              ", but keys that are kept resident hold " +
              size_text(kept_bytes_beside(model, *job.circuit)) + " of the " +
              size_text(model.budget.total_bytes()) + " of the budget",
          PartitionStage::kPending,
          job.to_start(),
          {}};
}

void carry_out_keys(Change& change, const PlanningSpace& space) {
  const auto circuits = change.model().keys.circuits();
  for (const Plan::Load& load : space.plan.loads) {
    begin_load_for(change, circuits[load.circuit], load.job ? space.waiting[*load.job] : nullptr);
  }
  for (const std::uint32_t row : space.plan.evictions) begin_eviction(change, circuits[row]);
}

// True when a job had to be stopped, which may let others go on.
bool carry_out(Change& change, const PlanningSpace& space) {
  EngineModel& model = change.model();
  const Plan& plan = space.plan;
  bool has_stopped = false;
  model.memory_waiters = 0;
  model.memory_waiting_bytes = 0;
  model.last_batch = plan.last_batch;
  for (std::size_t i = 0; i < space.waiting.size(); ++i) {
    space.waiting[i]->batch = plan.jobs[i].batch;
    const JobPlan::Turn turn = plan.jobs[i].turn;
    if (turn != JobPlan::Turn::kBehind && turn != JobPlan::Turn::kHeld) {
      admit(change, *space.waiting[i]);
    }
  }
  carry_out_keys(change, space);
  for (const Plan::Start& start : plan.starts) {
    grant(change, *space.waiting[start.job], start.partitions);
  }
  for (std::size_t i = 0; i < space.waiting.size(); ++i) {
    Job& job = *space.waiting[i];
    if (plan.jobs[i].turn == JobPlan::Turn::kCannotFit) {
      stop_job(change, job, cannot_fit(model, job, plan.jobs[i].needs_bytes));
      has_stopped = true;
    } else if (plan.jobs[i].wait != WaitReason::kNone) {
      tell_wait(change, job, plan.jobs[i]);
    }
  }
  return has_stopped;
}

void update_peaks(EngineModel& model) {
  QueuePeaks& peaks = model.peaks;
  peaks.jobs = std::max(peaks.jobs, model.waiting_jobs());
  peaks.synthesis = std::max(peaks.synthesis, model.in_stage(PartitionStage::kPending));
  peaks.synthesizing = std::max(peaks.synthesizing, model.synthesizing());
  std::uint32_t in_kernels = 0;
  for (const Device& device : model.devices) in_kernels += device.in_kernels != nullptr;
  peaks.kernels = std::max(peaks.kernels, in_kernels);
  peaks.device = std::max(peaks.device, static_cast<std::uint32_t>(model.device_queue.size()));
  peaks.loads = std::max(peaks.loads, model.keys.loads_begun());
}

}  // namespace

void dispatch(Change& change) {
  EngineModel& model = change.model();
  update_peaks(model);
  PlanningSpace& space = model.planning;
  std::uint64_t next_deadline_ns = 0;
  do {
    drop_retired(change);
    next_deadline_ns = judge_deadlines(change);
    make_plan(view_of(model, space, change.now()), space.plan);
  } while (carry_out(change, space));
  model.wake_at_ns = earlier_ns(space.plan.wake_at_ns, next_deadline_ns);
}

}  // namespace vitrine::engine
