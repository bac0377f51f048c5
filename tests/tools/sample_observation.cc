// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/sample_observation.h"

#include <array>

namespace vitrine::tests {
namespace {

using shm::Index;
using shm::Instant;
using shm::PartitionStage;

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kSecond = 1'000 * kMillisecond;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kNow = 100'000 * kSecond;
constexpr std::uint64_t kLastBeat = kNow - 50 * kMillisecond;
constexpr std::int64_t kLastBeatUnixNs = 1'769'847'330 * std::int64_t{1'000'000'000};

Instant ago(std::uint64_t age_ns) { return {kNow - age_ns}; }

void fill_engine(shm::Snapshot& snapshot) {
  shm::EngineRecord engine;
  engine.requested_backend = shm::Backend::kAuto;
  engine.effective_backend = shm::Backend::kCpu;
  engine.kernel_path.assign("portable");
  engine.started = ago(2483 * kSecond);
  snapshot.rows<shm::EngineRecord>() = {engine};

  shm::DeviceRecord device;
  device.kind = shm::Backend::kCpu;
  device.state = shm::DeviceState::kUp;
  device.name.assign("8 x CPU");
  device.threads = 8;
  device.proofs = 120;
  device.failures = 1;
  snapshot.rows<shm::DeviceRecord>() = {device};

  shm::WorkerRecord proving;
  proving.state = shm::WorkerState::kProving;
  proving.device = Index::of(0);
  proving.partition = Index::of(1);
  proving.job = {7};
  proving.stage = PartitionStage::kGpuProving;
  proving.since = ago(1500 * kMillisecond);
  proving.busy_ns = 1200 * kSecond;
  proving.partitions_done = 119;
  proving.partitions_failed = 1;
  shm::WorkerRecord idle;
  idle.identity.row = 1;
  idle.state = shm::WorkerState::kIdle;
  idle.idle_reason = shm::IdleReason::kNoWork;
  idle.device = Index::of(0);
  idle.since = ago(60 * kSecond);
  idle.busy_ns = 3 * kSecond;
  idle.partitions_done = 1;
  snapshot.rows<shm::WorkerRecord>() = {proving, idle};
}

void fill_memory(shm::Snapshot& snapshot) {
  shm::MemoryRecord memory;
  memory.budget_bytes = 2048 * kMiB;
  memory.reserved_bytes = 1536 * kMiB;
  memory.reserved_peak_bytes = 1800 * kMiB;
  memory.srs_bytes = 1024 * kMiB;
  memory.pce_bytes = 256 * kMiB;
  memory.working_bytes = 256 * kMiB;
  memory.resident_bytes = 1400 * kMiB;
  memory.waiters = 1;
  memory.waiting_bytes = 1536 * kMiB;
  snapshot.rows<shm::MemoryRecord>() = {memory};

  shm::QueueRecord jobs;
  jobs.name = shm::QueueName::kJobs;
  jobs.depth = 1;
  jobs.capacity = 256;
  jobs.depth_peak = 3;
  jobs.oldest = ago(3 * kSecond);
  shm::QueueRecord device;
  device.name = shm::QueueName::kDevice;
  device.depth = device.capacity = device.depth_peak = 2;
  device.oldest = ago(500 * kMillisecond);
  snapshot.rows<shm::QueueRecord>() = {jobs, device};
}

shm::JobRecord job(std::uint64_t id, shm::JobState state, std::uint32_t partitions) {
  shm::JobRecord job;
  job.job = {id};
  job.state = state;
  job.partitions = partitions;
  job.attempt = 1;
  return job;
}

void fill_jobs(shm::Snapshot& snapshot) {
  shm::JobRecord running = job(7, shm::JobState::kRunning, 4);
  running.circuit.assign("sha256");
  running.priority = shm::Priority::kNormal;
  running.partitions_done = 1;
  running.submitted = ago(12 * kSecond);
  running.deadline = {kNow + 48 * kSecond};

  shm::JobRecord failed = job(6, shm::JobState::kFailed, 1);
  failed.circuit.assign("small");
  failed.priority = shm::Priority::kLow;
  failed.submitted = ago(31 * kSecond);
  failed.finished = ago(30 * kSecond);
  failed.failure_class = shm::FailureClass::kBadInput;
  failed.failure_stage = PartitionStage::kSynthesizing;
  failed.failure_partition = Index::of(0);
  failed.failure_device = Index::of(0);
  failed.failure.assign("w[0] is not 1");

  shm::JobRecord waiting = job(8, shm::JobState::kAdmitting, 1);
  waiting.circuit.assign("sha256");
  waiting.priority = shm::Priority::kHigh;
  waiting.submitted = ago(3 * kSecond);
  waiting.wait_reason = shm::WaitReason::kMemory;
  waiting.wait_since = ago(2 * kSecond);
  waiting.wait_needs_bytes = 1536 * kMiB;
  waiting.wait_available_bytes = 512 * kMiB;
  snapshot.rows<shm::JobRecord>() = {running, failed, waiting};
}

shm::PartitionRecord partition(std::uint64_t job, std::uint32_t number, PartitionStage stage) {
  shm::PartitionRecord partition;
  partition.job = {job};
  partition.partition = number;
  partition.stage = stage;
  partition.attempt = 1;
  return partition;
}

void fill_partitions(shm::Snapshot& snapshot) {
  shm::PartitionRecord proving = partition(7, 1, PartitionStage::kGpuProving);
  proving.gpu_start = ago(1500 * kMillisecond);
  proving.worker = Index::of(0);
  proving.reserved_bytes = 64 * kMiB;
  shm::PartitionRecord synthesizing = partition(7, 2, PartitionStage::kSynthesizing);
  synthesizing.synth_start = ago(500 * kMillisecond);
  synthesizing.reserved_bytes = 192 * kMiB;
  snapshot.rows<shm::PartitionRecord>() = {partition(7, 0, PartitionStage::kDone),
                                           proving,
                                           synthesizing,
                                           partition(7, 3, PartitionStage::kPending),
                                           partition(6, 0, PartitionStage::kFailed),
                                           partition(8, 0, PartitionStage::kPending)};
}

}  // namespace

shm::Observation sample_observation() {
  shm::Snapshot snapshot;
  snapshot.consistent = true;
  snapshot.commit = 1234;
  snapshot.life = shm::EngineLife::kReady;
  snapshot.heartbeat = 24'830;
  snapshot.heartbeat_interval_ns = 100 * kMillisecond;
  snapshot.heartbeat_monotonic_ns = kLastBeat;
  snapshot.unix_minus_monotonic_ns = kLastBeatUnixNs - static_cast<std::int64_t>(kLastBeat);
  snapshot.taken_monotonic_ns = kNow;
  snapshot.heartbeat_age_ns = kNow - kLastBeat;
  fill_engine(snapshot);
  fill_memory(snapshot);
  fill_jobs(snapshot);
  fill_partitions(snapshot);

  shm::Observation observation;
  observation.snapshot = std::move(snapshot);
  observation.identity.instance = "main";
  observation.identity.host = "host7";
  observation.identity.engine_version = "0.1.0";
  observation.identity.pid = 4242;
  observation.verdict = {shm::VerdictWord::kBusy, "1 job running"};
  return observation;
}

}  // namespace vitrine::tests
