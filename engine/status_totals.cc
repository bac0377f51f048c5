// SPDX-License-Identifier: Apache-2.0
// The records of status_records.h that are sums over the model: queues, limiters, history.
#include <algorithm>

#include "engine/status_records.h"

namespace vitrine::engine {
namespace {

using shm::PartitionStage;
using shm::QueueName;

constexpr std::size_t kPriorities = static_cast<std::size_t>(shm::Priority::kCritical);

void add_waiting(shm::QueueRecord& record, std::uint32_t items, shm::Instant since) {
  if (items == 0) return;
  record.depth += items;
  if (!record.oldest.is_set() || since.ns < record.oldest.ns) record.oldest = since;
}

std::uint64_t sum_of(const EngineModel& model, shm::JobState state) {
  std::uint64_t sum = 0;
  for (const auto& tally : model.tallies) sum += tally->jobs[static_cast<std::size_t>(state)];
  return sum;
}

std::uint64_t sum_ended(const EngineModel& model, PartitionStage stage) {
  std::uint64_t sum = 0;
  for (const auto& tally : model.tallies) {
    sum += tally->partitions_ended[static_cast<std::size_t>(stage)];
  }
  return sum;
}

shm::LimiterRecord limiter(std::string_view name, std::uint64_t limit, std::uint64_t used,
                           std::uint64_t used_peak) {
  shm::LimiterRecord record;
  record.name = name;
  record.limit = limit;
  record.used = used;
  record.used_peak = std::max(used, used_peak);
  return record;
}

// Partitions whose worker waits for the device's kernels.
std::uint64_t waiting_for_kernels(const EngineModel& model) {
  return static_cast<std::uint64_t>(std::ranges::count_if(model.workers, [](const Worker& worker) {
    return worker.partition != nullptr && !worker.partition->gpu_start.is_set();
  }));
}

// Circuits whose jobs wait for a loader.
std::uint64_t waiting_for_loader(const EngineModel& model) {
  std::uint64_t circuits = 0;
  for (const Circuit& circuit : model.keys.circuits()) {
    if (circuit.presence() != KeyPresence::kAbsent) continue;
    circuits += std::ranges::any_of(model.jobs.active(), [&](const Job* job) {
      return job->circuit.get() == &circuit && job->wait.reason == shm::WaitReason::kSrs;
    });
  }
  return circuits;
}

}  // namespace

QueueRecords queues_by_priority_of(const EngineModel& model) noexcept {
  QueueRecords records;
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].name = static_cast<QueueName>(1 + i / kPriorities);
    records[i].priority = static_cast<shm::Priority>(1 + i % kPriorities);
  }
  const auto record = [&](QueueName queue, shm::Priority priority) -> shm::QueueRecord& {
    const std::size_t queue_place = static_cast<std::size_t>(queue) - 1;
    return records[queue_place * kPriorities + static_cast<std::size_t>(priority) - 1];
  };
  for (const Job* job : model.jobs.active()) {
    if (shm::is_waiting(job->state)) {
      add_waiting(record(QueueName::kJobs, job->priority), 1, job->submitted);
    }
    add_waiting(record(QueueName::kSynthesis, job->priority), job->count(PartitionStage::kPending),
                job->submitted);
  }
  for (const Partition* partition : model.device_queue) {
    add_waiting(record(QueueName::kDevice, partition->job->priority), 1, partition->gpu_queue);
  }
  return records;
}

LimiterRecords limiters_of(const EngineModel& model) noexcept {
  const EngineFacts& facts = model.facts;
  LimiterRecords records = {
      limiter("synthesis", facts.synthesis_limit, model.synthesizing(), model.peaks.synthesizing),
      limiter("device_queue", facts.device_queue_capacity + kCriticalPlaces,
              model.device_queue.size(), model.peaks.device),
      limiter("job_queue", facts.job_queue_capacity, model.waiting_jobs(), model.peaks.jobs),
      limiter("kernels", model.devices.size(), 0, 0),
      limiter("status_rows", model.jobs.row_capacity(), model.jobs.rows_in_use(),
              model.jobs.rows_in_use()),
      limiter("key_loads", facts.key_loaders + kCriticalLoaders, model.keys.loads_begun(),
              model.peaks.loads)};
  records[0].waiting = model.granted.size();
  records[2].refused = model.refused_queue_full;
  for (const Device& device : model.devices) records[3].used += device.in_kernels != nullptr;
  records[3].used_peak = model.peaks.kernels;
  records[3].waiting = waiting_for_kernels(model);
  records[4].refused = model.refused_for_capacity;
  records[5].waiting = waiting_for_loader(model);
  return records;
}

shm::HistorySample history_sample_of(const EngineModel& model) noexcept {
  using shm::JobState;
  shm::HistorySample sample;
  sample.jobs_waiting = model.waiting_jobs();
  sample.jobs_active = static_cast<std::uint32_t>(sum_of(model, JobState::kRunning) +
                                                  sum_of(model, JobState::kAssembling));
  sample.partitions_pending =
      model.in_stage(PartitionStage::kPending) + model.in_stage(PartitionStage::kWitnessing);
  sample.partitions_synthesizing = model.in_stage(PartitionStage::kSynthesizing);
  sample.partitions_gpu_queued = model.in_stage(PartitionStage::kGpuQueued);
  sample.partitions_on_device =
      model.in_stage(PartitionStage::kGpuProving) + model.in_stage(PartitionStage::kFinishing);
  sample.workers = static_cast<std::uint32_t>(model.workers.size());
  sample.memory_waiters = model.memory_waiters;
  sample.reserved_bytes = model.budget.reserved_bytes();
  sample.resident_bytes = model.process_resident_bytes;
  for (const Worker& worker : model.workers) sample.busy_ns += worker.busy_ns;
  sample.jobs_done = sum_of(model, JobState::kDone);
  sample.jobs_failed = sum_of(model, JobState::kFailed);
  sample.jobs_refused = sum_of(model, JobState::kRefused);
  sample.partitions_done = sum_ended(model, PartitionStage::kDone);
  sample.partitions_failed = sum_ended(model, PartitionStage::kFailed);
  return sample;
}

}  // namespace vitrine::engine
