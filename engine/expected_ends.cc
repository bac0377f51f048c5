// SPDX-License-Identifier: Apache-2.0
#include "engine/expected_ends.h"

#include <algorithm>
#include <vector>

#include "engine/state.h"
#include "shm/clock.h"

namespace vitrine::engine {
namespace {

using shm::PartitionStage;

// A row is written again when what is left would be wrong by more than a tenth.
constexpr std::uint64_t kTolerance = 10;

struct Outlook {
  ForecastFacts facts;
  std::vector<JobId> jobs;  // of the facts
};

std::uint64_t key_ready_ns(const Circuit& circuit, std::uint64_t now_ns) {
  if (circuit.presence() == KeyPresence::kReady) return now_ns;
  if (circuit.load_ns == 0) return 0;
  if (circuit.presence() != KeyPresence::kLoading) return now_ns + circuit.load_ns;
  return std::max(now_ns, circuit.srs.state_since().ns + circuit.load_ns);
}

void add_work(const Job& job, std::uint32_t index, ForecastFacts& facts) {
  using Place = ForecastWork::Place;
  for (const Partition& partition : job.partitions) {
    if (partition.gpu_start.is_set() && !shm::is_final(partition.stage)) {
      facts.work.push_back({Place::kDevice, index, partition.gpu_start.ns});
    } else if (partition.stage == PartitionStage::kGpuQueued ||
               partition.stage == PartitionStage::kGpuProving) {
      facts.work.push_back({Place::kQueue, index, partition.gpu_queue.ns});
    } else if (partition.reserved.bytes() > 0) {
      const bool has_begun = partition.synth_start.is_set();
      facts.work.push_back(
          {Place::kSlot, index, has_begun ? partition.synth_start.ns : facts.now_ns});
    }
  }
}

void add_job(const Job& job, Outlook& outlook) {
  const auto index = static_cast<std::uint32_t>(outlook.jobs.size());
  outlook.jobs.push_back(job.id);
  outlook.facts.jobs.push_back({job.circuit->place, job.pending()});
  add_work(job, index, outlook.facts);
}

// Jobs in the order in which they are served: those of which all partitions have begun, those in
// line, and then those that are held for a batch.
void add_jobs(const EngineModel& model, Outlook& outlook) {
  for (const Job* job : model.jobs.active()) {
    if (job->may_start() && job->pending() == 0) add_job(*job, outlook);
  }
  const PlanningSpace& planned = model.planning;
  std::vector<bool> is_added(planned.waiting.size());
  for (const LinePlace& place : planned.plan.line) {
    const bool is_first = !is_added[place.job];
    is_added[place.job] = true;
    if (is_first && planned.waiting[place.job]->pending() > 0)
      add_job(*planned.waiting[place.job], outlook);
  }
  for (std::size_t i = 0; i < planned.waiting.size(); ++i) {
    if (!is_added[i]) add_job(*planned.waiting[i], outlook);
  }
}

Outlook outlook_of(const EngineModel& model) {
  Outlook outlook;
  ForecastFacts& facts = outlook.facts;
  facts.now_ns = shm::monotonic_ns();
  facts.slots = model.facts.synthesis_limit;
  facts.is_paused = model.paused || model.is_draining();
  for (const Device& device : model.devices) facts.devices += device.takes_work() ? 1 : 0;
  for (const Circuit& circuit : model.keys.circuits()) {
    facts.circuits.push_back({circuit.pace, key_ready_ns(circuit, facts.now_ns)});
  }
  add_jobs(model, outlook);
  return outlook;
}

bool is_worth_telling(shm::Instant shown, std::uint64_t end_ns, std::uint64_t now_ns) {
  if (!shown.is_set() || end_ns == 0) return shown.ns != end_ns;
  const std::uint64_t difference_ns = shown.ns > end_ns ? shown.ns - end_ns : end_ns - shown.ns;
  const std::uint64_t left_ns = end_ns > now_ns ? end_ns - now_ns : 0;
  return difference_ns > left_ns / kTolerance;
}

}  // namespace

PartitionPace pace_of(const Partition& partition) {
  return {partition.gpu_queue.ns - partition.synth_start.ns,
          partition.gpu_end.ns - partition.gpu_start.ns,
          partition.finished.ns - partition.gpu_end.ns};
}

void tell_expected_ends(EngineState& state) {
  const Outlook outlook = state.look(outlook_of);
  if (outlook.jobs.empty()) return;
  const std::vector<std::uint64_t> ends = forecast_ends(outlook.facts);
  state.change([&](Change& change) {
    for (std::size_t i = 0; i < outlook.jobs.size(); ++i) {
      Job* job = change.model().jobs.find(outlook.jobs[i]);
      if (job == nullptr || shm::is_final(job->state)) continue;
      if (!is_worth_telling(job->expected_end, ends[i], outlook.facts.now_ns)) continue;
      job->expected_end = {ends[i]};
      change.publish().job_expected(*job);
    }
  });
}

}  // namespace vitrine::engine
