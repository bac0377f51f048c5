// SPDX-License-Identifier: Apache-2.0
// The ledger's partitions: pending -> any stages, any number of times -> done, failed, cancelled.
//
// Why   an engine of its own may go back and forth between stages; a time that the standard order
//       would contradict is forgotten when an earlier stage is entered again (invariant I6).
#include "shm/job_ledger_writer.h"
#include "shm/ledger_rules_writer.h"

namespace vitrine::shm {
namespace {

std::uint32_t& count_of(JobRecord& job, PartitionStage stage) {
  switch (stage) {
    case PartitionStage::kWitnessing:
      return job.partitions_witnessing;
    case PartitionStage::kSynthesizing:
      return job.partitions_synthesizing;
    case PartitionStage::kGpuQueued:
      return job.partitions_gpu_queued;
    case PartitionStage::kGpuProving:
      return job.partitions_gpu_proving;
    case PartitionStage::kFinishing:
      return job.partitions_finishing;
    case PartitionStage::kDone:
      return job.partitions_done;
    case PartitionStage::kFailed:
      return job.partitions_failed;
    case PartitionStage::kCancelled:
      return job.partitions_cancelled;
    default:
      return job.partitions_pending;
  }
}

bool is_waiting(PartitionStage stage) {
  return stage == PartitionStage::kPending || stage == PartitionStage::kGpuQueued;
}

PartitionStage standard_stage(StageClass stage_class, const PartitionRecord& partition) {
  switch (stage_class) {
    case StageClass::kCpu:
      return PartitionStage::kSynthesizing;
    case StageClass::kDevice:
      return PartitionStage::kGpuProving;
    case StageClass::kFinishing:
      return PartitionStage::kFinishing;
    case StageClass::kFinal:
      return PartitionStage::kDone;
    case StageClass::kWaiting:
      break;
  }
  const bool has_worked = partition.synth_start.is_set() || partition.gpu_start.is_set();
  return has_worked ? PartitionStage::kGpuQueued : PartitionStage::kPending;
}

}  // namespace

LedgerResult<std::uint32_t> JobLedger::partition_row(PartitionName name) const {
  const auto job = job_row(name.job);
  if (!job) return job.error();
  const auto& rows = books_[*job].partition_rows;
  if (name.number >= rows.size())
    return ledger_error(LedgerCode::kNoSuchItem, "no " + text_of(name));
  return rows[name.number];
}

LedgerResult<std::uint32_t> JobLedger::live_partition_row(const Change& change,
                                                          PartitionName name) const {
  const auto row = partition_row(name);
  if (!row) return row;
  const PartitionStage stage = change.rows.peek<PartitionRecord>(*row).stage;
  if (is_final(stage)) {
    return ledger_error(LedgerCode::kWrongOrder, text_of(name) + " is " + std::string(word(stage)));
  }
  return row;
}

void JobLedger::append(const Change& change, const PartitionRecord& partition, EventType type,
                       std::uint64_t argument) {
  Event event;
  event.job = partition.job;
  event.attempt = partition.attempt;
  event.partition = Index::of(partition.partition);
  event.worker = partition.worker;
  event.device = partition.device;
  event.argument = argument;
  append(change, event, type);
}

LedgerResult<std::uint32_t> JobLedger::worker_for(const Change& change,
                                                  const PartitionRecord& partition,
                                                  std::optional<std::uint32_t> wanted) const {
  const bool has_worker = is_on_device(partition.stage) && partition.worker.is_set();
  if (!wanted && !has_worker) {
    return ledger_error(LedgerCode::kBadArgument, "the stage needs a worker, and none is named");
  }
  const std::uint32_t worker = wanted.value_or(has_worker ? partition.worker.number() : 0);
  if (worker >= workers_) {
    return ledger_error(LedgerCode::kNoSuchItem, "no worker " + std::to_string(worker));
  }
  const WorkerRecord& record = change.rows.peek<WorkerRecord>(worker);
  const bool has_this = record.partition_row == Index::of(partition.identity.row);
  if (record.state == WorkerState::kProving && !has_this) {
    return ledger_error(LedgerCode::kBusy, "worker " + std::to_string(worker) + " has partition " +
                                               std::to_string(record.partition.number()) + " of " +
                                               text_of(record.job.value));
  }
  return worker;
}

LedgerResult<void> JobLedger::enter_stage(PartitionName name, std::uint32_t stage,
                                          std::optional<std::uint32_t> worker) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    const auto row = live_partition_row(open, name);
    if (!row) return row.error();
    if (stage >= stages_.size()) {
      return ledger_error(LedgerCode::kNoSuchItem, "no stage " + std::to_string(stage));
    }
    if (open.rows.peek<JobRecord>(*job_row(name.job)).state != JobState::kRunning) {
      return ledger_error(LedgerCode::kWrongOrder, text_of(name.job) + " is not admitted");
    }
    const LedgerStage& entered = stages_[stage];
    const PartitionRecord& partition = open.rows.peek<PartitionRecord>(*row);
    const PartitionStage to = standard_stage(entered.stage_class, partition);
    if (is_on_device(to)) {
      const auto taken = worker_for(open, partition, worker);
      if (!taken) return taken.error();
      worker = *taken;
    } else if (worker) {
      return ledger_error(LedgerCode::kBadArgument,
                          "only a device or a finishing stage has a worker");
    }
    if (to == PartitionStage::kDone) {
      end_partition(open, *row, to, FailureClass::kNone);
    } else {
      move_partition(open, *row, to, worker);
    }
    open.rows.edit<PartitionRecord>(*row).stage_name = std::string_view(entered.name);
    return {};
  });
}

LedgerResult<void> JobLedger::wait(PartitionName name, const Wait& wait) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    const auto row = live_partition_row(open, name);
    if (!row) return row.error();
    if (const auto fault = fault_of(wait)) return *fault;
    const PartitionStage stage = open.rows.peek<PartitionRecord>(*row).stage;
    if (!is_waiting(stage)) {
      return ledger_error(LedgerCode::kWrongOrder,
                          text_of(name) + " does not wait: it is " + std::string(word(stage)));
    }
    PartitionRecord& partition = open.rows.edit<PartitionRecord>(*row);
    const bool is_new = partition.wait_reason != wait.reason;
    set_wait(partition, wait, is_new ? open.now : partition.wait_since);
    if (is_new) {
      append(open, partition, EventType::kWait, static_cast<std::uint64_t>(wait.reason));
    }
    return {};
  });
}

LedgerResult<void> JobLedger::begin_again(PartitionName name) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    const auto row = live_partition_row(open, name);
    if (!row) return row.error();
    PartitionRecord& partition = open.rows.edit<PartitionRecord>(*row);
    move_partition(open, *row, PartitionStage::kPending, std::nullopt);
    ++partition.attempt;
    partition.stage_name = {};
    partition.synth_start = partition.synth_end = partition.gpu_queue = {};
    partition.gpu_pickup = partition.gpu_start = partition.gpu_end = {};
    ++counters_of(open, open.rows.peek<JobRecord>(partition.job_row.number())).partitions_retried;
    return {};
  });
}

LedgerResult<void> JobLedger::end(PartitionName name, PartitionStage final_stage,
                                  FailureClass why) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    const auto row = live_partition_row(open, name);
    if (!row) return row.error();
    if (open.rows.peek<JobRecord>(*job_row(name.job)).state != JobState::kRunning) {
      return ledger_error(LedgerCode::kWrongOrder, text_of(name.job) + " is not admitted");
    }
    end_partition(open, *row, final_stage, why);
    return {};
  });
}

void JobLedger::free_worker(const Change& change, const PartitionRecord& partition) {
  if (!is_on_device(partition.stage)) return;
  WorkerRecord& worker = change.rows.edit<WorkerRecord>(partition.worker.number());
  worker.busy_ns += change.now.ns - partition.gpu_pickup.ns;
  worker.state = WorkerState::kIdle;
  worker.idle_reason = idle_reason();
  worker.partition = worker.partition_row = {};
  worker.job = {};
  worker.stage = {};
  worker.since = change.now;
}

// The partition leaves its stage for `to`; counts and times of what ended.
void JobLedger::leave_stage(const Change& change, PartitionRecord& partition, PartitionStage to) {
  std::uint64_t& since_ns = stage_since_ns_[partition.identity.row];
  count_time(change, partition, partition.stage, change.now.ns - since_ns);
  since_ns = change.now.ns;
  if (partition.stage == PartitionStage::kSynthesizing) {
    partition.synth_end = change.now;
    append(change, partition, EventType::kSynthEnd, partition.reserved_bytes);
  }
  if (partition.stage == PartitionStage::kGpuProving) {
    partition.gpu_end = change.now;
    append(change, partition, EventType::kGpuEnd, 0);
  }
  JobRecord& job = change.rows.edit<JobRecord>(partition.job_row.number());
  --count_of(job, partition.stage);
  ++count_of(job, to);
}

// The partition goes from its worker, if it has one, to `worker`.
void JobLedger::hand_over(const Change& change, PartitionRecord& partition,
                          std::optional<std::uint32_t> worker) {
  const bool keeps =
      worker && is_on_device(partition.stage) && partition.worker == Index::of(*worker);
  if (keeps) return;
  free_worker(change, partition);
  if (!worker) {
    partition.worker = partition.device = {};
    return;
  }
  partition.worker = Index::of(*worker);
  partition.gpu_pickup = change.now;
  partition.gpu_start = partition.gpu_end = {};
  WorkerRecord& record = change.rows.edit<WorkerRecord>(*worker);
  partition.device = record.device;
  record.state = WorkerState::kProving;
  record.idle_reason = IdleReason::kNone;
  record.partition = Index::of(partition.partition);
  record.job = partition.job;
  record.partition_row = Index::of(partition.identity.row);
  append(change, partition, EventType::kGpuPickup, 0);
}

// The times of a stage that was just entered; those of later stages are of an earlier round.
void JobLedger::mark_times(const Change& change, PartitionRecord& partition, PartitionStage from) {
  const Instant now = change.now;
  switch (partition.stage) {
    case PartitionStage::kSynthesizing:
      if (!partition.synth_start.is_set()) partition.synth_start = now;
      partition.synth_end = partition.gpu_queue = {};
      partition.gpu_pickup = partition.gpu_start = partition.gpu_end = {};
      append(change, partition, EventType::kSynthStart, partition.reserved_bytes);
      break;
    case PartitionStage::kGpuQueued:
      partition.gpu_queue = now;
      partition.gpu_pickup = partition.gpu_start = partition.gpu_end = {};
      append(change, partition, EventType::kGpuQueue, 0);
      break;
    case PartitionStage::kGpuProving:
      if (from != PartitionStage::kFinishing || !partition.gpu_start.is_set()) {
        partition.gpu_start = now;
      }
      partition.gpu_end = {};
      append(change, partition, EventType::kGpuStart, 0);
      break;
    default:
      break;
  }
}

void JobLedger::move_partition(const Change& change, std::uint32_t row, PartitionStage to,
                               std::optional<std::uint32_t> worker) {
  PartitionRecord& partition = change.rows.edit<PartitionRecord>(row);
  const PartitionStage from = partition.stage;
  if (from != to) leave_stage(change, partition, to);
  hand_over(change, partition, worker);
  partition.stage = to;
  if (from != to) mark_times(change, partition, from);
  const WaitReason reason =
      to == PartitionStage::kGpuQueued ? WaitReason::kDevice : WaitReason::kCpu;
  set_wait(partition, {.reason = is_waiting(to) ? reason : WaitReason::kNone}, change.now);
  if (worker) {
    WorkerRecord& record = change.rows.edit<WorkerRecord>(*worker);
    record.stage = to;
    record.since = change.now;
    // Another worker in the same stage starts anew.
    if (to == PartitionStage::kGpuProving && !partition.gpu_start.is_set()) {
      partition.gpu_start = change.now;
    }
  }
  JobRecord& job = change.rows.edit<JobRecord>(partition.job_row.number());
  if (!is_waiting(to) && !job.started.is_set()) job.started = change.now;
}

void JobLedger::end_partition(const Change& change, std::uint32_t row, PartitionStage final_stage,
                              FailureClass why) {
  PartitionRecord& partition = change.rows.edit<PartitionRecord>(row);
  leave_stage(change, partition, final_stage);
  const bool is_done = final_stage == PartitionStage::kDone;
  const bool has_failed = final_stage == PartitionStage::kFailed;
  if (is_on_device(partition.stage)) {
    free_worker(change, partition);
    WorkerRecord& worker = change.rows.edit<WorkerRecord>(partition.worker.number());
    worker.partitions_done += is_done;
    worker.partitions_failed += has_failed;
    DeviceRecord& device = change.rows.edit<DeviceRecord>(partition.device.number());
    device.proofs += is_done;
    device.failures += has_failed;
  }
  partition.last_stage = partition.stage;
  partition.stage = final_stage;
  partition.stage_name = {};
  partition.finished = change.now;
  set_wait(partition, {}, change.now);
  change_reserved(change, &MemoryRecord::working_bytes,
                  -static_cast<std::int64_t>(partition.reserved_bytes));
  partition.reserved_bytes = 0;
  JobRecord& job = change.rows.edit<JobRecord>(partition.job_row.number());
  CountersRecord& counters = counters_of(change, job);
  counters.partitions_done += is_done;
  counters.partitions_failed += has_failed;
  counters.partitions_cancelled += !is_done && !has_failed;
  if (is_done) {
    count_time(change, partition, PartitionStage::kDone, change.now.ns - partition.created.ns);
  }
  if (has_failed) {
    partition.failure_class = why == FailureClass::kNone ? FailureClass::kInternal : why;
  }
  const auto type = is_done      ? EventType::kPartitionDone
                    : has_failed ? EventType::kPartitionFail
                                 : EventType::kPartitionCancel;
  append(change, partition, type,
         has_failed ? static_cast<std::uint64_t>(partition.failure_class) : 0);
  if (job.state == JobState::kRunning && job.partitions_done == job.partitions) {
    move_job(change, job, JobState::kAssembling);
  }
}

}  // namespace vitrine::shm
