// SPDX-License-Identifier: Apache-2.0
#include "engine/publisher.h"

#include <cstring>

#include "engine/status_records.h"

namespace vitrine::engine {

using shm::EventType;
using shm::Index;

// Writes a row unless it says the same already. Identity stays the writer's.
template <class Record>
void Publisher::set_row(std::uint32_t row, const Record& record) noexcept {
  constexpr std::size_t kOwn = sizeof(shm::Identity);
  const Record& shown = transaction_.peek<Record>(row);
  const auto* before = reinterpret_cast<const std::byte*>(&shown) + kOwn;
  const auto* after = reinterpret_cast<const std::byte*>(&record) + kOwn;
  if (std::memcmp(before, after, sizeof(Record) - kOwn) == 0) return;
  Record& edited = transaction_.edit<Record>(row);
  const shm::Identity identity = edited.identity;
  edited = record;
  edited.identity = identity;
}

void Publisher::publish(const Job& job) noexcept { set_row(job.row, record_of(job)); }

void Publisher::publish(const Partition& partition) noexcept {
  set_row(partition.row, record_of(partition));
}

void Publisher::publish(const Circuit& circuit) noexcept {
  set_row(2 * circuit.row, srs_record_of(circuit));
  set_row(2 * circuit.row + 1, pce_record_of(circuit));
}

// The worker shows the stage of the partition in its hands.
void Publisher::publish_holder(const Partition& partition, const EngineModel& model) noexcept {
  if (partition.worker) worker_changed(model.workers[*partition.worker], model);
}

void Publisher::append(shm::Event event, EventType type) noexcept {
  event.type = type;
  event.time = now_;
  transaction_.append(event);
}

void Publisher::append(const Job& job, EventType type, std::uint64_t argument) noexcept {
  shm::Event event;
  event.job = {job.id};
  event.attempt = job.attempt;
  event.argument = argument;
  append(event, type);
}

void Publisher::append(const Partition& partition, EventType type,
                       std::uint64_t argument) noexcept {
  shm::Event event;
  event.job = {partition.job->id};
  event.attempt = partition.attempt;
  event.partition = Index::of(partition.number);
  if (partition.worker) event.worker = Index::of(*partition.worker);
  if (partition.device) event.device = Index::of(*partition.device);
  event.argument = argument;
  append(event, type);
}

void Publisher::job_received(const Job& job) noexcept {
  transaction_.recycle<shm::JobRecord>(job.row);
  publish(job);
  for (const Partition& partition : job.partitions) {
    transaction_.recycle<shm::PartitionRecord>(partition.row);
    publish(partition);
  }
  append(job, EventType::kSubmit, job.partition_count());
}

void Publisher::job_refused(JobId id, std::uint32_t partitions) noexcept {
  shm::Event event;
  event.job = {id};
  event.argument = partitions;
  append(event, EventType::kRefuse);
}

void Publisher::job_refused(const Job& job, std::uint32_t partitions) noexcept {
  transaction_.recycle<shm::JobRecord>(job.row);
  publish(job);
  append(job, EventType::kRefuse, partitions);
}

void Publisher::job_considered(const Job& job) noexcept {
  publish(job);
  publish(*job.circuit);
}

void Publisher::job_waits(const Job& job) noexcept {
  publish(job);
  append(job, EventType::kWait, static_cast<std::uint64_t>(job.wait.reason));
}

void Publisher::job_admitted(const Job& job) noexcept {
  publish(job);
  append(job, EventType::kAdmit);
}

void Publisher::job_finished(const Job& job) noexcept {
  publish(job);
  if (job.state == shm::JobState::kDone) return append(job, EventType::kFinish);
  if (job.state == shm::JobState::kRefused) {
    return append(job, EventType::kRefuse, job.partition_count());
  }
  const auto cause = static_cast<std::uint64_t>(failure_class_of(job.failure->error_class));
  append(job, job.state == shm::JobState::kCancelled ? EventType::kCancel : EventType::kFail,
         cause);
}

void Publisher::job_recycled(const Job& job) noexcept {
  transaction_.clear<shm::JobRecord>(job.row);
  for (const Partition& partition : job.partitions) {
    transaction_.clear<shm::PartitionRecord>(partition.row);
  }
}

void Publisher::partition_waits(const Partition& partition) noexcept { publish(partition); }

void Publisher::partition_granted(const Partition& partition) noexcept {
  publish(partition);
  publish(*partition.job->circuit);
}

void Publisher::stage_changed(const Partition& partition) noexcept {
  publish(partition);
  publish(*partition.job);
}

void Publisher::synthesis_started(const Partition& partition) noexcept {
  publish(partition);
  publish(*partition.job);
  append(partition, EventType::kSynthStart, partition.reserved.bytes());
}

void Publisher::synthesis_ended(const Partition& partition) noexcept {
  append(partition, EventType::kSynthEnd, partition.reserved.bytes());
}

void Publisher::device_queued(const Partition& partition) noexcept {
  publish(partition);
  publish(*partition.job);
  append(partition, EventType::kGpuQueue);
}

void Publisher::partition_retried(const Partition& partition) noexcept {
  publish(partition);
  publish(*partition.job);
  publish(*partition.job->circuit);
  append(partition, EventType::kWait, static_cast<std::uint64_t>(partition.wait.reason));
}

void Publisher::picked_up(const Partition& partition, const Worker& worker,
                          const EngineModel& model) noexcept {
  publish(partition);
  publish(*partition.job);
  worker_changed(worker, model);
  append(partition, EventType::kGpuPickup);
}

void Publisher::kernels_started(const Partition& partition, const EngineModel& model) noexcept {
  publish(partition);
  publish_holder(partition, model);
  append(partition, EventType::kGpuStart);
}

void Publisher::bytes_returned(const Partition& partition, const EngineModel& model) noexcept {
  publish(partition);
  publish(*partition.job);
  publish_holder(partition, model);
}

void Publisher::kernels_ended(const Partition& partition, const EngineModel& model) noexcept {
  publish(partition);
  publish_holder(partition, model);
  append(partition, EventType::kGpuEnd);
}

void Publisher::partition_finished(const Partition& partition) noexcept {
  publish(partition);
  publish(*partition.job);
  publish(*partition.job->circuit);
  switch (partition.stage) {
    case shm::PartitionStage::kDone:
      return append(partition, EventType::kPartitionDone);
    case shm::PartitionStage::kCancelled:
      return append(partition, EventType::kPartitionCancel);
    default:
      return append(partition, EventType::kPartitionFail,
                    static_cast<std::uint64_t>(failure_class_of(*partition.failure_class)));
  }
}

void Publisher::worker_changed(const Worker& worker, const EngineModel& model) noexcept {
  set_row(worker.number, record_of(worker, model));
}

void Publisher::device_changed(const Device& device) noexcept {
  set_row(device.number, record_of(device));
}

void Publisher::key_loading(const Circuit& circuit) noexcept {
  publish(circuit);
  shm::Event event;
  event.argument = circuit.key_bytes();
  append(event, EventType::kLoad);
}

void Publisher::key_settled(const Circuit& circuit) noexcept {
  publish(circuit);
  if (!circuit.srs.is(shm::AllocationState::kReady)) return;
  shm::Event event;
  event.argument = circuit.key_bytes();
  append(event, EventType::kLoaded);
}

void Publisher::key_dropped(const Circuit& circuit) noexcept {
  publish(circuit);
  shm::Event event;
  event.argument = circuit.key_bytes();
  append(event, EventType::kEvict);
}

void Publisher::circuit_added(const Circuit& circuit) noexcept {
  transaction_.recycle<shm::AllocationRecord>(2 * circuit.row);
  transaction_.recycle<shm::AllocationRecord>(2 * circuit.row + 1);
  publish(circuit);
}

void Publisher::circuit_removed(const Circuit& circuit) noexcept {
  transaction_.clear<shm::AllocationRecord>(2 * circuit.row);
  transaction_.clear<shm::AllocationRecord>(2 * circuit.row + 1);
}

void Publisher::thread_changed(ThreadRow row, const ThreadState& thread) noexcept {
  set_row(row, record_of(thread));
}

void Publisher::error_noted(std::uint32_t row, const ErrorLog::Entry& entry) noexcept {
  set_row(row, record_of(entry));
}

// A row for each, as far as there are rows.
void Publisher::settings(const std::vector<SettingInEffect>& settings) noexcept {
  const std::uint32_t rows = transaction_.capacity<shm::SettingRecord>();
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (row < settings.size()) {
      set_row(row, record_of(settings[row]));
    } else if (!transaction_.peek<shm::SettingRecord>(row).name.view().empty()) {
      transaction_.clear<shm::SettingRecord>(row);  // of a circuit that is gone
    }
  }
}

void Publisher::history(const EngineModel& model) noexcept {
  shm::HistorySample sample = history_sample_of(model);
  sample.time = now_;
  transaction_.append(sample);
}

void Publisher::started(const EngineModel& model) noexcept {
  for (ThreadRow row = 0; row < model.threads.size(); ++row) {
    thread_changed(row, model.threads[row]);
  }
  for (const Device& device : model.devices) device_changed(device);
  for (const Worker& worker : model.workers) worker_changed(worker, model);
  for (const Circuit& circuit : model.keys.circuits()) publish(circuit);
  append(shm::Event{}, EventType::kStart);
}

void Publisher::stopped(std::uint32_t exit_code) noexcept {
  shm::Event event;
  event.argument = exit_code;
  append(event, EventType::kStop);
}

// Three rows of totals, then each queue by priority.
void Publisher::queues(const EngineModel& model) noexcept {
  set_row(0, jobs_queue_of(model));
  set_row(1, synthesis_queue_of(model));
  set_row(2, device_queue_of(model));
  const QueueRecords records = queues_by_priority_of(model);
  for (std::uint32_t i = 0; i < records.size(); ++i) set_row(3 + i, records[i]);
}

// Only rows that have changed are made: there are many, and few change at a time.
void Publisher::stage_times(std::uint32_t kind_row, const KindTally& tally) noexcept {
  constexpr auto kFirst = static_cast<std::uint32_t>(shm::PartitionStage::kPending);
  constexpr auto kLast = static_cast<std::uint32_t>(shm::PartitionStage::kDone);
  for (std::uint32_t stage = kFirst; stage <= kLast; ++stage) {
    const std::uint32_t row = kind_row * (kLast - kFirst + 1) + stage - kFirst;
    if (row >= transaction_.capacity<shm::StageTimesRecord>()) return;
    const bool is_shown =
        transaction_.peek<shm::StageTimesRecord>(row).count == tally.stage_times[stage].count;
    if (!is_shown) set_row(row, stage_times_of(tally, static_cast<shm::PartitionStage>(stage)));
  }
}

void Publisher::totals(const EngineModel& model) noexcept {
  set_row(0, memory_record_of(model));
  queues(model);
  set_row(0, buffers_record_of(model));
  set_row(0, engine_record_of(model));
  const LimiterRecords limiters = limiters_of(model);
  for (std::uint32_t row = 0; row < limiters.size(); ++row) set_row(row, limiters[row]);
  for (std::uint32_t row = 0; row < model.tallies.size(); ++row) {
    set_row(row, record_of(*model.tallies[row]));
    stage_times(row, *model.tallies[row]);
  }
}

}  // namespace vitrine::engine
