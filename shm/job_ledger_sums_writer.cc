// SPDX-License-Identifier: Apache-2.0
// What the ledger adds up: queues, waiters, buffers, stage times, history.
#include <algorithm>
#include <array>
#include <cstring>

#include "shm/job_ledger_writer.h"

namespace vitrine::shm {
namespace {

constexpr std::size_t kQueueNames = 3;
constexpr std::size_t kPriorities = static_cast<std::size_t>(Priority::kCritical);
constexpr std::size_t kQueueRows = kQueueNames * (1 + kPriorities);

// Writes a row unless it says the same already. Identity stays the writer's.
template <class Record>
void set_row(Transaction& rows, std::uint32_t row, const Record& record) {
  constexpr std::size_t kOwn = sizeof(Identity);
  const auto* before = reinterpret_cast<const std::byte*>(&rows.peek<Record>(row)) + kOwn;
  const auto* after = reinterpret_cast<const std::byte*>(&record) + kOwn;
  if (std::memcmp(before, after, sizeof(Record) - kOwn) == 0) return;
  Record& edited = rows.edit<Record>(row);
  const Identity identity = edited.identity;
  edited = record;
  edited.identity = identity;
}

}  // namespace

struct JobLedger::Sums {
  std::array<std::uint32_t, std::size(WordList<PartitionStage>::kWords)> in_stage{};
  std::array<QueueRecord, kQueueRows> queues;  // of all priorities, then by queue and priority
  std::uint32_t jobs_waiting = 0;
  std::uint32_t waiters = 0;
  std::uint64_t waiting_bytes = 0;

  Sums() {
    for (std::size_t name = 0; name < kQueueNames; ++name) {
      queues[name].name = static_cast<QueueName>(1 + name);
      for (std::size_t priority = 0; priority < kPriorities; ++priority) {
        QueueRecord& queue = queues[kQueueNames + name * kPriorities + priority];
        queue.name = queues[name].name;
        queue.priority = static_cast<Priority>(1 + priority);
      }
    }
  }

  void add_to_queue(QueueName name, Priority priority, Instant since) {
    const std::size_t place = static_cast<std::size_t>(name) - 1;
    const std::size_t by_priority =
        kQueueNames + place * kPriorities + static_cast<std::size_t>(priority) - 1;
    for (QueueRecord* queue : {&queues[place], &queues[by_priority]}) {
      ++queue->depth;
      if (!queue->oldest.is_set() || since.ns < queue->oldest.ns) queue->oldest = since;
    }
  }

  template <class Record>
  void add_waiter(const Record& record) {
    if (record.wait_reason != WaitReason::kMemory) return;
    ++waiters;
    // Callers say what they need; the sum stays a number (invariant I4).
    constexpr std::uint64_t kMax = ~std::uint64_t{0} >> 1;
    waiting_bytes += std::min(record.wait_needs_bytes, kMax - waiting_bytes);
  }
};

JobLedger::Sums JobLedger::sums_of(const Change& change) const {
  Sums sums;
  for (const std::uint32_t row : jobs_in_hand_) {
    const JobRecord& job = change.rows.peek<JobRecord>(row);
    if (is_waiting(job.state)) {
      ++sums.jobs_waiting;
      sums.add_to_queue(QueueName::kJobs, job.priority, job.submitted);
      sums.add_waiter(job);
    }
    for (const std::uint32_t partition_row : books_[row].partition_rows) {
      const PartitionRecord& partition = change.rows.peek<PartitionRecord>(partition_row);
      ++sums.in_stage[static_cast<std::size_t>(partition.stage)];
      sums.add_waiter(partition);
      if (partition.stage == PartitionStage::kPending) {
        sums.add_to_queue(QueueName::kSynthesis, job.priority, partition.created);
      } else if (partition.stage == PartitionStage::kGpuQueued) {
        sums.add_to_queue(QueueName::kDevice, job.priority, partition.gpu_queue);
      }
    }
  }
  return sums;
}

void JobLedger::settle(const Change& change) {
  Sums sums = sums_of(change);
  const auto in_stage = [&sums](PartitionStage stage) {
    return sums.in_stage[static_cast<std::size_t>(stage)];
  };
  Transaction& rows = change.rows;
  for (std::uint32_t row = 0; row < kQueueRows; ++row) {
    QueueRecord& queue = sums.queues[row];
    queue.depth_peak = std::max(queue.depth, rows.peek<QueueRecord>(row).depth_peak);
    set_row(rows, row, queue);
  }
  MemoryRecord memory = rows.peek<MemoryRecord>();
  memory.waiters = sums.waiters;
  memory.waiting_bytes = sums.waiting_bytes;
  set_row(rows, 0, memory);
  BuffersRecord buffers;
  buffers.synth_in_flight = in_stage(PartitionStage::kSynthesizing);
  buffers.provers_in_flight = in_stage(PartitionStage::kGpuProving);
  buffers.aux_in_flight = in_stage(PartitionStage::kFinishing);
  set_row(rows, 0, buffers);
  EngineRecord engine = rows.peek<EngineRecord>();
  engine.synthesis_active = in_stage(PartitionStage::kSynthesizing);
  set_row(rows, 0, engine);
  LimiterRecord status_rows;
  status_rows.name = std::string_view("status_rows");
  status_rows.limit = books_.size();
  status_rows.used = books_.size() - free_jobs_.size();
  status_rows.used_peak = std::max(status_rows.used, rows.peek<LimiterRecord>().used_peak);
  status_rows.refused = engine.refused_for_capacity;
  set_row(rows, 0, status_rows);
}

HistorySample JobLedger::history_of(const Change& change) const {
  const Sums sums = sums_of(change);
  const auto in_stage = [&sums](PartitionStage stage) {
    return sums.in_stage[static_cast<std::size_t>(stage)];
  };
  const MemoryRecord& memory = change.rows.peek<MemoryRecord>();
  HistorySample sample;
  sample.time = change.now;
  sample.jobs_waiting = sums.jobs_waiting;
  sample.jobs_active = static_cast<std::uint32_t>(jobs_in_hand_.size()) - sums.jobs_waiting;
  sample.partitions_pending = in_stage(PartitionStage::kPending);
  sample.partitions_synthesizing = in_stage(PartitionStage::kSynthesizing);
  sample.partitions_gpu_queued = in_stage(PartitionStage::kGpuQueued);
  sample.partitions_on_device =
      in_stage(PartitionStage::kGpuProving) + in_stage(PartitionStage::kFinishing);
  sample.workers = workers_;
  sample.memory_waiters = sums.waiters;
  sample.reserved_bytes = memory.reserved_bytes;
  sample.resident_bytes = memory.resident_bytes;
  for (std::uint32_t row = 0; row < workers_; ++row) {
    sample.busy_ns += change.rows.peek<WorkerRecord>(row).busy_ns;
  }
  for (std::uint32_t row = 0; row < change.rows.capacity<CountersRecord>(); ++row) {
    const CountersRecord& counters = change.rows.peek<CountersRecord>(row);
    sample.jobs_done += counters.done;
    sample.jobs_failed += counters.failed;
    sample.jobs_refused += counters.refused;
    sample.partitions_done += counters.partitions_done;
    sample.partitions_failed += counters.partitions_failed;
  }
  return sample;
}

// A row for each stage of each row of counters, as far as there are rows.
void JobLedger::count_time(const Change& change, const PartitionRecord& partition,
                           PartitionStage stage, std::uint64_t duration_ns) {
  constexpr auto kFirst = static_cast<std::uint32_t>(PartitionStage::kPending);
  constexpr std::uint32_t kRowsOfKind =
      static_cast<std::uint32_t>(PartitionStage::kDone) - kFirst + 1;
  const std::uint32_t counters_row = books_[partition.job_row.number()].counters_row;
  const std::uint32_t row = counters_row * kRowsOfKind + static_cast<std::uint32_t>(stage) - kFirst;
  if (row >= change.rows.capacity<StageTimesRecord>()) return;
  if (change.rows.peek<StageTimesRecord>(row).count == 0) {
    StageTimesRecord& fresh = change.rows.recycle<StageTimesRecord>(row);
    fresh.proof_kind = change.rows.peek<CountersRecord>(counters_row).proof_kind;
    fresh.stage = stage;
  }
  StageTimesRecord& times = change.rows.edit<StageTimesRecord>(row);
  ++times.count;
  times.sum_ns += duration_ns;
  times.max_ns = std::max(times.max_ns, duration_ns);
  times.times.add(duration_ns);
}

}  // namespace vitrine::shm
