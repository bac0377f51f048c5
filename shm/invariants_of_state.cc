// SPDX-License-Identifier: Apache-2.0
// I1 to I5: what must agree within one snapshot.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "shm/catalogue.h"
#include "shm/invariant_checks.h"
#include "shm/invariants.h"

namespace vitrine::shm {
namespace {

std::string text(std::uint64_t number) { return std::to_string(number); }

std::string name(const JobRecord& job) { return "job " + text(job.job.value); }

std::string name(const PartitionRecord& partition) {
  return "partition " + text(partition.partition) + " of job " + text(partition.job.value);
}

std::string differ(const std::string& what, std::uint64_t left, std::uint64_t right) {
  return what + ": " + text(left) + " is not " + text(right);
}

const JobRecord* find_job(const Snapshot& snapshot, Id id) {
  const auto& jobs = snapshot.rows<JobRecord>();
  const auto found = std::ranges::find(jobs, id, &JobRecord::job);
  return found == jobs.end() ? nullptr : &*found;
}

// Rows are in row order.
const PartitionRecord* find_partition_row(const Snapshot& snapshot, std::uint32_t row) {
  const auto& rows = snapshot.rows<PartitionRecord>();
  const auto at = std::ranges::lower_bound(
      rows, row, {}, [](const PartitionRecord& partition) { return partition.identity.row; });
  return at == rows.end() || at->identity.row != row ? nullptr : &*at;
}

// A gauge or counter of CountersRecord and the job state that it counts.
struct CountedState {
  JobState state;
  std::uint64_t CountersRecord::*count;
};
constexpr CountedState kCountedStates[] = {{JobState::kReceived, &CountersRecord::received},
                                           {JobState::kQueued, &CountersRecord::queued},
                                           {JobState::kAdmitting, &CountersRecord::admitting},
                                           {JobState::kRunning, &CountersRecord::running},
                                           {JobState::kAssembling, &CountersRecord::assembling},
                                           {JobState::kDone, &CountersRecord::done},
                                           {JobState::kFailed, &CountersRecord::failed},
                                           {JobState::kCancelled, &CountersRecord::cancelled},
                                           {JobState::kRefused, &CountersRecord::refused},
                                           {JobState::kLost, &CountersRecord::lost}};

// A partition stage and the member of JobRecord that counts it.
struct CountedStage {
  PartitionStage stage;
  std::uint32_t JobRecord::*count;
};
constexpr CountedStage kCountedStages[] = {
    {PartitionStage::kPending, &JobRecord::partitions_pending},
    {PartitionStage::kWitnessing, &JobRecord::partitions_witnessing},
    {PartitionStage::kSynthesizing, &JobRecord::partitions_synthesizing},
    {PartitionStage::kGpuQueued, &JobRecord::partitions_gpu_queued},
    {PartitionStage::kGpuProving, &JobRecord::partitions_gpu_proving},
    {PartitionStage::kFinishing, &JobRecord::partitions_finishing},
    {PartitionStage::kDone, &JobRecord::partitions_done},
    {PartitionStage::kFailed, &JobRecord::partitions_failed},
    {PartitionStage::kCancelled, &JobRecord::partitions_cancelled}};

using StageCounts = std::array<std::uint64_t, std::size(WordList<PartitionStage>::kWords)>;

std::unordered_map<std::uint64_t, StageCounts> count_stages_by_job(const Snapshot& snapshot) {
  std::unordered_map<std::uint64_t, StageCounts> counts;
  for (const PartitionRecord& partition : snapshot.rows<PartitionRecord>()) {
    const auto stage = static_cast<std::size_t>(partition.stage);
    if (stage < StageCounts{}.size()) ++counts[partition.job.value][stage];
  }
  return counts;
}

void check_stage_counts(const JobRecord& job, const StageCounts& rows, Violations& out) {
  std::uint64_t present = 0;
  for (const std::uint64_t count : rows) present += count;
  // Rows come with admission and go, oldest first, once the job is final.
  const bool may_lack_rows = is_final(job.state) || is_waiting(job.state);
  if (present != job.partitions && !(may_lack_rows && present < job.partitions)) {
    out.push_back("I3: " + differ(name(job) + " has rows of partitions", present, job.partitions));
  }
  if (present != job.partitions) return;
  for (const CountedStage& counted : kCountedStages) {
    const std::uint64_t in_rows = rows[static_cast<std::size_t>(counted.stage)];
    if (in_rows == job.*counted.count) continue;
    out.push_back("I3: " +
                  differ(name(job) + " counts partitions " + std::string(word(counted.stage)),
                         job.*counted.count, in_rows));
  }
}

template <class Item>
void check_reason(const Item& item, Violations& out) {
  if (item.wait_reason == WaitReason::kNone) {
    out.push_back("I5: " + name(item) + " waits without a reason");
  }
  if (!item.wait_since.is_set()) {
    out.push_back("I5: " + name(item) + " does not say since when it waits");
  }
  if (item.wait_reason == WaitReason::kMemory && item.wait_needs_bytes == 0) {
    out.push_back("I5: " + name(item) + " waits for memory but not for how much");
  }
}

}  // namespace

void check_counters(const Snapshot& snapshot, Violations& out) {
  // Kinds without a row of their own are counted in the row `other`.
  std::map<std::string, std::map<JobState, std::uint64_t>> in_rows;
  const auto& counters = snapshot.rows<CountersRecord>();
  for (const JobRecord& job : snapshot.rows<JobRecord>()) {
    const bool has_own_row = std::ranges::any_of(counters, [&](const CountersRecord& row) {
      return row.proof_kind.view() == job.proof_kind.view();
    });
    const std::string kind(has_own_row ? job.proof_kind.view() : std::string_view("other"));
    ++in_rows[kind][job.state];
  }
  for (const CountersRecord& row : counters) {
    const std::string kind(row.proof_kind.view());
    std::uint64_t total = 0;
    for (const CountedState& counted : kCountedStates) {
      total += row.*counted.count;
      const std::uint64_t jobs = in_rows[kind][counted.state];
      // Rows of final jobs are given to others; a job that is not final always has one.
      const bool agrees =
          is_final(counted.state) ? jobs <= row.*counted.count : jobs == row.*counted.count;
      if (agrees) continue;
      out.push_back("I1: " + differ(kind + " jobs " + std::string(word(counted.state)),
                                    row.*counted.count, jobs));
    }
    if (total != row.submitted) {
      out.push_back("I1: " + differ(kind + " jobs submitted", row.submitted, total));
    }
  }
}

void check_workers(const Snapshot& snapshot, Violations& out) {
  std::unordered_map<std::uint32_t, std::uint32_t> workers_by_row;
  for (const WorkerRecord& worker : snapshot.rows<WorkerRecord>()) {
    if (worker.state != WorkerState::kProving) continue;
    const std::string who = "I2: busy worker " + text(worker.identity.row);
    const JobRecord* job = find_job(snapshot, worker.job);
    if (job == nullptr || !is_active(job->state)) {
      out.push_back(who + " has job " + text(worker.job.value) + ", which is not active");
      continue;
    }
    const PartitionRecord* partition =
        worker.partition_row.is_set() ? find_partition_row(snapshot, worker.partition_row.number())
                                      : nullptr;
    if (partition == nullptr || partition->job != worker.job ||
        partition->worker != Index::of(worker.identity.row) || !is_on_device(partition->stage)) {
      out.push_back(who + " is not the one that its partition names");
      continue;
    }
    ++workers_by_row[partition->identity.row];
  }
  for (const PartitionRecord& partition : snapshot.rows<PartitionRecord>()) {
    if (!is_on_device(partition.stage)) continue;
    const auto found = workers_by_row.find(partition.identity.row);
    const std::uint32_t workers = found == workers_by_row.end() ? 0 : found->second;
    if (workers == 1) continue;
    out.push_back("I2: " + differ(name(partition) + " is on a device with workers", workers, 1));
  }
}

void check_jobs(const Snapshot& snapshot, Violations& out) {
  const auto stages_by_job = count_stages_by_job(snapshot);
  for (const JobRecord& job : snapshot.rows<JobRecord>()) {
    std::uint64_t total = 0;
    for (const CountedStage& counted : kCountedStages) total += job.*counted.count;
    if (total != job.partitions) {
      out.push_back("I3: " + differ(name(job) + " has partitions", job.partitions, total));
    }
    const auto found = stages_by_job.find(job.job.value);
    check_stage_counts(job, found == stages_by_job.end() ? StageCounts{} : found->second, out);
    const bool has_cause = job.failure_class != FailureClass::kNone && !job.failure.view().empty();
    if (job.state == JobState::kFailed && !has_cause) {
      out.push_back("I3: " + name(job) + " failed without a cause");
    }
  }
}

void check_memory(const Snapshot& snapshot, Violations& out) {
  const MemoryRecord& memory = snapshot.memory();
  if (memory.reserved_bytes > memory.budget_bytes) {
    out.push_back("I4: reserved " + text(memory.reserved_bytes) + " of a budget of " +
                  text(memory.budget_bytes) + " bytes");
  }
  std::uint64_t srs_bytes = 0;
  std::uint64_t pce_bytes = 0;
  std::uint64_t working_bytes = 0;
  for (const AllocationRecord& row : snapshot.rows<AllocationRecord>()) {
    (row.kind == AllocationKind::kSrs ? srs_bytes : pce_bytes) += row.reserved_bytes;
  }
  for (const PartitionRecord& row : snapshot.rows<PartitionRecord>()) {
    working_bytes += row.reserved_bytes;
  }
  const auto must_equal = [&out](const char* what, std::uint64_t left, std::uint64_t right) {
    if (left != right) out.push_back("I4: " + differ(what, left, right));
  };
  must_equal("bytes reserved for points", memory.srs_bytes, srs_bytes);
  must_equal("bytes reserved for matrices", memory.pce_bytes, pce_bytes);
  must_equal("bytes reserved by partitions", memory.working_bytes, working_bytes);
  must_equal("bytes reserved by all consumers", memory.reserved_bytes,
             memory.srs_bytes + memory.pce_bytes + memory.working_bytes);
}

void check_waiting(const Snapshot& snapshot, Violations& out) {
  for (const JobRecord& job : snapshot.rows<JobRecord>()) {
    if (is_waiting(job.state)) check_reason(job, out);
  }
  for (const PartitionRecord& partition : snapshot.rows<PartitionRecord>()) {
    const bool waits = partition.stage == PartitionStage::kPending ||
                       partition.stage == PartitionStage::kGpuQueued;
    if (waits) check_reason(partition, out);
  }
}

std::vector<std::string> check_quiet(const Snapshot& snapshot) {
  Violations out;
  const auto must_be_zero = [&out](const std::string& what, std::uint64_t number) {
    if (number != 0) out.push_back("I9: " + what + ": " + text(number) + ", though quiet");
  };
  for (const CountersRecord& row : snapshot.rows<CountersRecord>()) {
    for (const CountedState& counted : kCountedStates) {
      if (is_final(counted.state)) continue;
      must_be_zero("jobs " + std::string(word(counted.state)), row.*counted.count);
    }
  }
  for (const WorkerRecord& worker : snapshot.rows<WorkerRecord>()) {
    if (worker.state == WorkerState::kIdle && worker.idle_reason == IdleReason::kNoWork) continue;
    out.push_back("I9: worker " + text(worker.identity.row) + " is not idle for want of work");
  }
  for (const PartitionRecord& partition : snapshot.rows<PartitionRecord>()) {
    must_be_zero(name(partition) + " holds bytes", partition.reserved_bytes);
    if (!is_final(partition.stage)) out.push_back("I9: " + name(partition) + " is not final");
  }
  for (const QueueRecord& queue : snapshot.rows<QueueRecord>()) {
    must_be_zero("depth of queue " + std::string(word(queue.name)), queue.depth);
  }
  for (const AllocationRecord& row : snapshot.rows<AllocationRecord>()) {
    must_be_zero("references to " + std::string(row.circuit.view()), row.references);
  }
  const MemoryRecord& memory = snapshot.memory();
  must_be_zero("bytes beside the resident caches",
               memory.reserved_bytes - memory.srs_bytes - memory.pce_bytes);
  must_be_zero("waiters for memory", memory.waiters);
  must_be_zero("bytes waited for", memory.waiting_bytes);
  must_be_zero("partitions in synthesis", snapshot.engine().synthesis_active);
  const BuffersRecord& buffers = snapshot.buffers();
  must_be_zero("buffers in flight", buffers.synth_in_flight + buffers.provers_in_flight +
                                        buffers.aux_in_flight + buffers.shells_in_flight +
                                        buffers.pending_handles);
  return out;
}

}  // namespace vitrine::shm
