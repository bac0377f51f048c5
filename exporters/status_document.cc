// SPDX-License-Identifier: Apache-2.0
#include "exporters/status_document.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace vitrine::exporters {

namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;
using shm::Instant;
using shm::JobRecord;
using shm::JobState;
using shm::PartitionRecord;
using shm::PartitionStage;
using shm::Snapshot;

constexpr std::int64_t kFinishedJobsStayNs = 30'000'000'000;
constexpr std::uint32_t kMaxPartitions = 256;

double seconds(std::int64_t ns) { return static_cast<double>(std::max<std::int64_t>(ns, 0)) / 1e9; }

double seconds_ago(const Snapshot& snapshot, Instant instant) {
  return instant.is_set() ? seconds(snapshot.age_ns(instant)) : 0.0;
}

// Null until both ends are known; a stage that was begun again has only one of them.
value milliseconds_between(Instant start, Instant end) {
  if (!start.is_set() || !end.is_set() || end.ns < start.ns) return nullptr;
  return (end.ns - start.ns) / 1'000'000;
}

std::string_view compatible_state(PartitionStage stage) {
  switch (stage) {
    case PartitionStage::kUnknown:
    case PartitionStage::kPending:
      return "pending";
    case PartitionStage::kWitnessing:
    case PartitionStage::kSynthesizing:
      return "synthesizing";
    case PartitionStage::kGpuQueued:
      return "synth_done";
    case PartitionStage::kGpuProving:
    case PartitionStage::kFinishing:
      return "gpu";
    case PartitionStage::kDone:
      return "done";
    case PartitionStage::kFailed:
    case PartitionStage::kCancelled:
      return "failed";
  }
  return "pending";
}

object memory_section(const Snapshot& snapshot) {
  const shm::MemoryRecord& memory = snapshot.memory();
  const std::uint64_t used = memory.reserved_bytes;
  return {{"total_bytes", memory.budget_bytes},
          {"used_bytes", used},
          {"available_bytes", memory.budget_bytes - std::min(used, memory.budget_bytes)}};
}

object partition_entry(const PartitionRecord& partition) {
  return {{"index", partition.partition},
          {"state", compatible_state(partition.stage)},
          {"synth_ms", milliseconds_between(partition.synth_start, partition.synth_end)},
          {"gpu_ms", milliseconds_between(partition.gpu_start, partition.gpu_end)}};
}

using PartitionsByJob = std::unordered_map<std::uint64_t, std::vector<const PartitionRecord*>>;

PartitionsByJob partitions_by_job(const Snapshot& snapshot) {
  PartitionsByJob by_job;
  for (const PartitionRecord& partition : snapshot.rows<PartitionRecord>()) {
    by_job[partition.job.value].push_back(&partition);
  }
  for (auto& [job, partitions] : by_job) {
    std::sort(partitions.begin(), partitions.end(),
              [](const auto* a, const auto* b) { return a->partition < b->partition; });
  }
  return by_job;
}

array partition_entries(const JobRecord& job, const PartitionsByJob& by_job) {
  array entries;
  const auto found = by_job.find(job.job.value);
  if (found != by_job.end()) {
    for (const PartitionRecord* partition : found->second) {
      entries.push_back(partition_entry(*partition));
    }
  } else if (shm::is_waiting(job.state)) {  // not split yet: clients expect every partition
    for (std::uint32_t i = 0; i < std::min(job.partitions, kMaxPartitions); ++i) {
      PartitionRecord pending;
      pending.partition = i;
      pending.stage = PartitionStage::kPending;
      entries.push_back(partition_entry(pending));
    }
  }
  return entries;
}

// A refused job never became a pipeline.
bool is_shown(const Snapshot& snapshot, const JobRecord& job) {
  if (job.state == JobState::kRefused) return false;
  return !shm::is_final(job.state) || snapshot.age_ns(job.finished) <= kFinishedJobsStayNs;
}

array pipelines(const Snapshot& snapshot) {
  std::vector<const JobRecord*> jobs;
  for (const JobRecord& job : snapshot.rows<JobRecord>()) {
    if (is_shown(snapshot, job)) jobs.push_back(&job);
  }
  std::sort(jobs.begin(), jobs.end(), [](const auto* a, const auto* b) {
    return std::pair(a->submitted.ns, a->job.value) < std::pair(b->submitted.ns, b->job.value);
  });
  const PartitionsByJob by_job = partitions_by_job(snapshot);
  array entries;
  for (const JobRecord* job : jobs) {
    const Instant start = job->started.is_set() ? job->started : job->submitted;
    entries.push_back(object{{"job_id", std::to_string(job->job.value)},
                             {"proof_kind", job->proof_kind.view()},
                             {"started_secs_ago", seconds_ago(snapshot, start)},
                             {"total_partitions", job->partitions},
                             {"partitions_done", job->partitions_done},
                             {"partitions", partition_entries(*job, by_job)}});
  }
  return entries;
}

array gpu_workers(const Snapshot& snapshot) {
  array entries;
  for (const shm::WorkerRecord& worker : snapshot.rows<shm::WorkerRecord>()) {
    const bool proving = worker.state == shm::WorkerState::kProving;
    object entry{{"worker_id", worker.identity.row},
                 {"gpu_ordinal", worker.device.is_set() ? worker.device.number() : 0},
                 {"state", proving ? "proving" : "idle"},
                 {"current_job", nullptr},
                 {"current_partition", nullptr},
                 {"busy_secs", nullptr}};
    if (proving) {
      entry["current_job"] = std::to_string(worker.job.value);
      if (worker.partition.is_set()) entry["current_partition"] = worker.partition.number();
      entry["busy_secs"] = seconds_ago(snapshot, worker.since);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

array allocations_of(const Snapshot& snapshot, shm::AllocationKind kind) {
  array entries;
  for (const shm::AllocationRecord& held : snapshot.rows<shm::AllocationRecord>()) {
    if (held.kind != kind || held.state == shm::AllocationState::kAbsent) continue;
    const Instant used = held.last_used.is_set() ? held.last_used : held.state_since;
    const bool evictable = held.state == shm::AllocationState::kReady && held.references == 0 &&
                           held.keep_resident == 0;
    entries.push_back(object{{"circuit_id", held.circuit.view()},
                             {"bytes", held.reserved_bytes},
                             {"last_used_secs_ago", seconds_ago(snapshot, used)},
                             {"evictable", evictable}});
  }
  return entries;
}

std::uint32_t jobs_queued(const Snapshot& snapshot) {
  for (const shm::QueueRecord& queue : snapshot.rows<shm::QueueRecord>()) {
    const bool is_total = queue.priority == shm::Priority::kUnknown;
    if (queue.name == shm::QueueName::kJobs && is_total) return queue.depth;
  }
  return 0;
}

// A job that a restart lost did fail, as far as these clients can tell.
object counters_section(const Snapshot& snapshot) {
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  object completed_by_kind;
  object failed_by_kind;
  for (const shm::CountersRecord& row : snapshot.rows<shm::CountersRecord>()) {
    completed += row.done;
    failed += row.failed + row.lost;
    completed_by_kind[row.proof_kind.view()] = row.done;
    failed_by_kind[row.proof_kind.view()] = row.failed + row.lost;
  }
  return {{"total_completed", completed},
          {"total_failed", failed},
          {"completed_by_kind", std::move(completed_by_kind)},
          {"failed_by_kind", std::move(failed_by_kind)},
          {"queue_depth", jobs_queued(snapshot)}};
}

object buffers_section(const Snapshot& snapshot) {
  const shm::BuffersRecord& buffers = snapshot.buffers();
  return {{"synth_in_flight", buffers.synth_in_flight},
          {"provers_in_flight", buffers.provers_in_flight},
          {"aux_in_flight", buffers.aux_in_flight},
          {"shells_in_flight", buffers.shells_in_flight},
          {"pending_handles", buffers.pending_handles}};
}

}  // namespace

object status_document(const Snapshot& snapshot) {
  const shm::EngineRecord& engine = snapshot.engine();
  return {{"uptime_secs", seconds_ago(snapshot, engine.started)},
          {"memory", memory_section(snapshot)},
          {"synthesis",
           {{"max_concurrent", engine.synthesis_limit}, {"active", engine.synthesis_active}}},
          {"pipelines", pipelines(snapshot)},
          {"gpu_workers", gpu_workers(snapshot)},
          {"allocations",
           {{"srs", allocations_of(snapshot, shm::AllocationKind::kSrs)},
            {"pce", allocations_of(snapshot, shm::AllocationKind::kPce)}}},
          {"counters", counters_section(snapshot)},
          {"buffers", buffers_section(snapshot)}};
}

}  // namespace vitrine::exporters
