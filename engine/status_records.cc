// SPDX-License-Identifier: Apache-2.0
#include "engine/status_records.h"

#include "engine/short_text.h"

namespace vitrine::engine {
namespace {

using shm::Index;
using shm::PartitionStage;

Index index_of(const std::optional<std::uint32_t>& number) {
  return number ? Index::of(*number) : Index{};
}

std::uint64_t count_of(const KindTally& tally, shm::JobState state) {
  return tally.jobs[static_cast<std::size_t>(state)];
}

std::uint64_t ended(const KindTally& tally, PartitionStage stage) {
  return tally.partitions_ended[static_cast<std::size_t>(stage)];
}

void fill_stages(shm::JobRecord& record, const Job& job) {
  record.partitions_pending = job.count(PartitionStage::kPending);
  record.partitions_witnessing = job.count(PartitionStage::kWitnessing);
  record.partitions_synthesizing = job.count(PartitionStage::kSynthesizing);
  record.partitions_gpu_queued = job.count(PartitionStage::kGpuQueued);
  record.partitions_gpu_proving = job.count(PartitionStage::kGpuProving);
  record.partitions_finishing = job.count(PartitionStage::kFinishing);
  record.partitions_done = job.count(PartitionStage::kDone);
  record.partitions_failed = job.count(PartitionStage::kFailed);
  record.partitions_cancelled = job.count(PartitionStage::kCancelled);
}

shm::AllocationRecord allocation_of(const Circuit& circuit, const KeyAllocation& allocation) {
  shm::AllocationRecord record;
  record.state = allocation.state();
  record.circuit = std::string_view(circuit.shown_name);
  record.reserved_bytes = allocation.reserved_bytes();
  record.references = circuit.references;
  record.keep_resident = circuit.configuration.keep_resident ? 1 : 0;
  record.state_since = allocation.state_since();
  record.last_used = circuit.last_used;
  record.hits = allocation.hits();
  record.misses = allocation.misses();
  record.loads = allocation.loads();
  record.evictions = allocation.evictions();
  shorten(record.cause, circuit.cause);
  return record;
}

shm::IdleReason idle_reason_of(const EngineModel& model) {
  if (model.is_draining()) return shm::IdleReason::kDraining;
  if (model.life == shm::EngineLife::kStarting) return shm::IdleReason::kStarting;
  return model.paused ? shm::IdleReason::kPaused : shm::IdleReason::kNoWork;
}

}  // namespace

shm::JobRecord record_of(const Job& job) noexcept {
  shm::JobRecord record;
  record.job = {job.id};
  record.state = job.state;
  record.priority = job.priority;
  record.circuit = std::string_view(job.circuit->configuration.id);
  record.proof_kind = std::string_view(job.tally->kind);
  record.request = std::string_view(job.request);
  record.attempt = job.attempt;
  record.partitions = job.partition_count();
  fill_stages(record, job);
  record.wait_reason = job.wait.reason;
  record.wait_since = job.wait.since;
  record.wait_needs_bytes = job.wait.needs_bytes;
  record.wait_available_bytes = job.wait.available_bytes;
  record.submitted = job.submitted;
  record.admitted = job.admitted;
  record.started = job.started;
  record.finished = job.finished;
  record.deadline = job.deadline;
  if (!shm::is_final(job.state)) record.expected_end = job.expected_end;
  if (job.failure) {
    record.failure_class = failure_class_of(job.failure->error_class);
    record.failure_stage = job.failure->stage;
    record.failure_partition = index_of(job.failure->partition);
    record.failure_device = index_of(job.failure->device);
    shorten(record.failure, job.failure->text);
  }
  return record;
}

shm::PartitionRecord record_of(const Partition& partition) noexcept {
  shm::PartitionRecord record;
  record.job = {partition.job->id};
  record.job_row = Index::of(partition.job->row);
  record.partition = partition.number;
  record.stage = partition.stage;
  record.attempt = partition.attempt;
  record.worker = index_of(partition.worker);
  record.device = index_of(partition.device);
  record.reserved_bytes = partition.reserved.bytes();
  record.wait_reason = partition.wait.reason;
  if (partition.failure_class) record.failure_class = failure_class_of(*partition.failure_class);
  record.wait_since = partition.wait.since;
  record.wait_needs_bytes = partition.wait.needs_bytes;
  record.created = partition.created;
  record.synth_start = partition.synth_start;
  record.synth_end = partition.synth_end;
  record.gpu_queue = partition.gpu_queue;
  record.gpu_pickup = partition.gpu_pickup;
  record.gpu_start = partition.gpu_start;
  record.gpu_end = partition.gpu_end;
  record.finished = partition.finished;
  record.last_stage = partition.last_stage;
  return record;
}

shm::ThreadRecord record_of(const ThreadState& thread) noexcept {
  shm::ThreadRecord record;
  record.name = std::string_view(thread.name);
  record.step = thread.step;
  record.since = thread.since;
  record.limit_ns = thread.limit_ns;
  record.beats = thread.beats;
  record.job = {thread.job};
  record.partition = index_of(thread.partition);
  record.worker = index_of(thread.worker);
  return record;
}

shm::ErrorRecord record_of(const ErrorLog::Entry& entry) noexcept {
  shm::ErrorRecord record;
  record.failure_class = entry.failure_class;
  record.device = index_of(entry.device);
  record.count = entry.count;
  record.first = entry.first;
  record.last = entry.last;
  record.job = {entry.job};
  record.partition = index_of(entry.partition);
  shorten(record.text, entry.text);
  return record;
}

shm::SettingRecord record_of(const SettingInEffect& setting) noexcept {
  shm::SettingRecord record;
  shorten(record.name, setting.name);
  shorten(record.value, setting.value);
  shorten(record.origin, setting.origin);
  return record;
}

shm::StageTimesRecord stage_times_of(const KindTally& tally, PartitionStage stage) noexcept {
  const DurationTally& times = tally.stage_times[static_cast<std::size_t>(stage)];
  shm::StageTimesRecord record;
  record.proof_kind = std::string_view(tally.kind);
  record.stage = stage;
  record.count = times.count;
  record.sum_ns = times.sum_ns;
  record.max_ns = times.max_ns;
  record.times = times.times;
  return record;
}

shm::DeviceRecord record_of(const Device& device) noexcept {
  shm::DeviceRecord record;
  record.kind = device.setup.kind;
  record.state = device.state;
  shorten(record.name, device.setup.name);
  record.threads = device.setup.threads;
  record.workers = device.workers;
  record.state_since = device.state_since;
  record.proofs = device.proofs;
  record.proofs_invalid = device.proofs_invalid;
  record.failures = device.failures;
  return record;
}

shm::WorkerRecord record_of(const Worker& worker, const EngineModel& model) noexcept {
  shm::WorkerRecord record;
  record.device = Index::of(worker.device->number);
  if (const Partition* partition = worker.partition) {
    record.state = shm::WorkerState::kProving;
    record.partition = Index::of(partition->number);
    record.job = {partition->job->id};
    record.partition_row = Index::of(partition->row);
    record.stage = partition->stage;
  } else {
    record.state = shm::WorkerState::kIdle;
    record.idle_reason = idle_reason_of(model);
  }
  record.since = worker.since;
  record.busy_ns = worker.busy_ns;
  record.partitions_done = worker.partitions_done;
  record.partitions_failed = worker.partitions_failed;
  record.restarts = worker.restarts;
  return record;
}

shm::CountersRecord record_of(const KindTally& tally) noexcept {
  using shm::JobState;
  shm::CountersRecord record;
  record.proof_kind = std::string_view(tally.kind);
  record.submitted = tally.submitted;
  record.received = count_of(tally, JobState::kReceived);
  record.queued = count_of(tally, JobState::kQueued);
  record.admitting = count_of(tally, JobState::kAdmitting);
  record.running = count_of(tally, JobState::kRunning);
  record.assembling = count_of(tally, JobState::kAssembling);
  record.done = count_of(tally, JobState::kDone);
  record.failed = count_of(tally, JobState::kFailed);
  record.cancelled = count_of(tally, JobState::kCancelled);
  record.refused = count_of(tally, JobState::kRefused);
  record.lost = count_of(tally, JobState::kLost);
  record.partitions_done = ended(tally, PartitionStage::kDone);
  record.partitions_failed = ended(tally, PartitionStage::kFailed);
  record.partitions_cancelled = ended(tally, PartitionStage::kCancelled);
  record.partitions_retried = tally.partitions_retried;
  record.deadlines_missed = tally.deadlines_missed;
  return record;
}

shm::AllocationRecord srs_record_of(const Circuit& circuit) noexcept {
  shm::AllocationRecord record = allocation_of(circuit, circuit.srs);
  record.kind = shm::AllocationKind::kSrs;
  record.total_bytes = circuit.shape ? circuit.shape->points_bytes : 0;
  record.loaded_bytes = circuit.srs.loaded_bytes(record.total_bytes);
  return record;
}

shm::AllocationRecord pce_record_of(const Circuit& circuit) noexcept {
  shm::AllocationRecord record = allocation_of(circuit, circuit.pce);
  record.kind = shm::AllocationKind::kPce;
  record.total_bytes = circuit.shape ? circuit.shape->constraints_bytes : 0;
  record.loaded_bytes = circuit.pce.loaded_bytes(record.total_bytes);
  return record;
}

shm::EngineRecord engine_record_of(const EngineModel& model) noexcept {
  shm::EngineRecord record;
  record.requested_backend = model.facts.requested_backend;
  record.effective_backend = model.effective_backend;
  record.kernel_path = std::string_view(model.facts.kernel_path);
  shorten(record.degraded_reason, model.degraded.brief());
  record.started = model.facts.started;
  record.synthesis_limit = model.facts.synthesis_limit;
  record.synthesis_active = model.synthesizing();
  record.device_queue_capacity = model.facts.device_queue_capacity;
  record.job_queue_capacity = model.facts.job_queue_capacity;
  record.paused = model.paused ? 1 : 0;
  record.workers = static_cast<std::uint32_t>(model.workers.size());
  record.backend_fallbacks = model.backend_fallbacks;
  record.recycled_rows = model.recycled_rows;
  record.refused_for_capacity = model.refused_for_capacity;
  record.stale_events = model.stale_events;
  return record;
}

shm::MemoryRecord memory_record_of(const EngineModel& model) noexcept {
  const MemoryBudget& budget = model.budget;
  shm::MemoryRecord record;
  record.budget_bytes = budget.total_bytes();
  record.reserved_bytes = budget.reserved_bytes();
  record.reserved_peak_bytes = budget.peak_bytes();
  record.srs_bytes = budget.reserved_bytes(MemoryConsumer::kSrs);
  record.pce_bytes = budget.reserved_bytes(MemoryConsumer::kPce);
  record.working_bytes = budget.reserved_bytes(MemoryConsumer::kWorking);
  record.waiting_bytes = model.memory_waiting_bytes;
  record.resident_bytes = model.process_resident_bytes;
  record.waiters = model.memory_waiters;
  record.refused_impossible = model.refused_impossible;
  return record;
}

shm::BuffersRecord buffers_record_of(const EngineModel& model) noexcept {
  const std::uint64_t synthesizing = model.in_stage(PartitionStage::kSynthesizing);
  const std::uint64_t queued = model.in_stage(PartitionStage::kGpuQueued);
  const std::uint64_t proving = model.in_stage(PartitionStage::kGpuProving);
  const std::uint64_t finishing = model.in_stage(PartitionStage::kFinishing);
  shm::BuffersRecord record;
  record.synth_in_flight = synthesizing;
  record.provers_in_flight = queued;
  record.aux_in_flight = synthesizing + queued + proving + finishing;
  record.shells_in_flight = proving + finishing;
  record.pending_handles = finishing;
  return record;
}

shm::QueueRecord jobs_queue_of(const EngineModel& model) noexcept {
  shm::QueueRecord record;
  record.name = shm::QueueName::kJobs;
  record.depth = model.waiting_jobs();
  record.capacity = model.facts.job_queue_capacity;
  record.depth_peak = model.peaks.jobs;
  for (const Job* job : model.jobs.active()) {
    if (!shm::is_waiting(job->state)) continue;
    record.oldest = job->submitted;
    break;
  }
  return record;
}

shm::QueueRecord synthesis_queue_of(const EngineModel& model) noexcept {
  shm::QueueRecord record;
  record.name = shm::QueueName::kSynthesis;
  record.depth = model.in_stage(PartitionStage::kPending);
  record.depth_peak = model.peaks.synthesis;
  for (const Job* job : model.jobs.active()) {
    if (job->count(PartitionStage::kPending) == 0) continue;
    record.oldest = job->submitted;
    break;
  }
  return record;
}

shm::QueueRecord device_queue_of(const EngineModel& model) noexcept {
  shm::QueueRecord record;
  record.name = shm::QueueName::kDevice;
  record.depth = static_cast<std::uint32_t>(model.device_queue.size());
  record.capacity = model.facts.device_queue_capacity + kCriticalPlaces;
  record.depth_peak = model.peaks.device;
  if (!model.device_queue.empty()) record.oldest = model.device_queue.front()->gpu_queue;
  return record;
}

}  // namespace vitrine::engine
