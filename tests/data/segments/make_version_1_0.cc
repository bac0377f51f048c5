// SPDX-License-Identifier: Apache-2.0
// Wrote v1_0.segment. It builds against the sources of the last commit that wrote version 1.0 and
// is kept for the record; README.md says how it was run.
//
// Usage: make_version_1_0 FOLDER (in a tmpfs) leaves FOLDER/v1_0.segment.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "shm/segment_writer.h"

namespace vitrine::shm {
namespace {

constexpr std::uint64_t kBeatNs = 3'600'000'000'000;
constexpr std::uint64_t kUnixNs = 4'102'444'800'000'000'000;

Instant before_beat(std::uint64_t ms) { return Instant{kBeatNs - ms * 1'000'000}; }

SegmentOptions options_of(const std::filesystem::path& path) {
  SegmentOptions options;
  options.instance = "main";
  options.path = path;
  options.engine_version = "0.1.0";
  options.api_socket_path = "/run/vitrine/main.sock";
  options.capacity = {.jobs = 4,
                      .partitions = 8,
                      .workers = 2,
                      .devices = 1,
                      .allocations = 2,
                      .queues = 3,
                      .counters = 2,
                      .events = 16};
  return options;
}

void start(SegmentWriter& writer) {
  Transaction open = writer.begin();
  EngineRecord& engine = open.edit<EngineRecord>();
  engine.requested_backend = Backend::kAuto;
  engine.effective_backend = Backend::kCpu;
  engine.kernel_path.assign("x86-64 adx");
  engine.started = before_beat(60'000);
  engine.synthesis_limit = 2;
  engine.device_queue_capacity = 2;
  engine.job_queue_capacity = 256;
  engine.workers = 2;
  DeviceRecord& device = open.recycle<DeviceRecord>(0);
  device.kind = Backend::kCpu;
  device.state = DeviceState::kUp;
  device.name.assign("CPU of prover-1");
  device.threads = 8;
  device.workers = 2;
  device.state_since = before_beat(60'000);
  for (std::uint32_t row = 0; row < 2; ++row) {
    WorkerRecord& worker = open.recycle<WorkerRecord>(row);
    worker.state = WorkerState::kIdle;
    worker.idle_reason = IdleReason::kNoWork;
    worker.device = Index::of(0);
    worker.since = before_beat(60'000);
  }
  open.edit<MemoryRecord>().budget_bytes = std::uint64_t{1} << 30;
  open.recycle<QueueRecord>(0).name = QueueName::kJobs;
  open.recycle<CountersRecord>(0).proof_kind.assign("demo");
  Event event;
  event.type = EventType::kStart;
  event.time = before_beat(60'000);
  open.append(event);
}

void add_job(SegmentWriter& writer, std::uint32_t row, JobState state) {
  Transaction open = writer.begin();
  JobRecord& job = open.recycle<JobRecord>(row);
  job.job = Id{std::uint64_t{7'000'000'000'000'000'001} + row};
  job.state = state;
  job.priority = Priority::kNormal;
  job.circuit.assign("demo");
  job.proof_kind.assign("demo");
  job.request.assign("request " + std::to_string(row));
  job.attempt = 1;
  job.partitions = 2;
  job.submitted = before_beat(50'000 - row * 10'000);
  job.started = before_beat(49'000 - row * 10'000);
  if (is_final(state)) job.finished = before_beat(45'000 - row * 10'000);
  if (state == JobState::kDone) job.partitions_done = 2;
  if (state == JobState::kFailed) {
    job.partitions_failed = 2;
    job.failure_class = FailureClass::kBadInput;
    job.failure_stage = PartitionStage::kSynthesizing;
    job.failure_partition = Index::of(1);
    job.failure.assign("witness.1.wtns: value 17 is not below the modulus \xC3\xA9");
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    PartitionRecord& partition = open.recycle<PartitionRecord>(2 * row + i);
    partition.job = job.job;
    partition.job_row = Index::of(row);
    partition.partition = i;
    partition.attempt = 1;
    partition.stage = state == JobState::kDone     ? PartitionStage::kDone
                      : state == JobState::kFailed ? PartitionStage::kFailed
                                                   : PartitionStage::kGpuProving;
    partition.created = job.submitted;
    partition.synth_start = job.started;
  }
  if (state == JobState::kRunning) {
    job.partitions_gpu_proving = 2;
    WorkerRecord& worker = open.edit<WorkerRecord>(1);
    worker.state = WorkerState::kProving;
    worker.idle_reason = IdleReason::kNone;
    worker.job = job.job;
    worker.partition = Index::of(0);
    worker.partition_row = Index::of(2 * row);
    worker.stage = PartitionStage::kGpuProving;
    worker.since = before_beat(20'000);
  }
  Event event;
  event.job = job.job;
  event.attempt = 1;
  event.argument = 2;
  event.time = job.submitted;
  event.type = EventType::kSubmit;
  open.append(event);
  event.time = job.finished;
  event.type = state == JobState::kDone ? EventType::kFinish : EventType::kFail;
  if (is_final(state)) open.append(event);
}

template <class Part>
void set_part(std::string& bytes, std::size_t offset, const Part& part) {
  std::memcpy(bytes.data() + offset, &part, sizeof(part));
}

// Everything that would differ from one run to the next.
void settle(std::string& bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (std::uint8_t i = 0; i < 16; ++i) header.incarnation[i] = i * 17;
  for (std::uint8_t i = 0; i < 16; ++i) header.boot_id[i] = 0xB0 + i;
  header.pid = 4711;
  header.pid_namespace_inode = 4'026'531'836;
  header.process_start_ticks = 123'456;
  header.uid = 998;
  header.created_unix_ns = kUnixNs - kBeatNs;
  header.host = {'p', 'r', 'o', 'v', 'e', 'r', '-', '1'};
  set_part(bytes, 0, header);
  HotLines hot;
  std::memcpy(&hot, bytes.data() + kHotLinesOffset, sizeof(hot));
  hot.life.last_signal = 11;
  hot.heartbeat.count = 36'000;
  hot.heartbeat.monotonic_ns = kBeatNs;
  hot.time_anchor.unix_minus_monotonic_ns = kUnixNs - kBeatNs;
  set_part(bytes, kHotLinesOffset, hot);
}

int run(const std::filesystem::path& folder) {
  const auto path = folder / "v1_0.segment";
  {
    auto writer = SegmentWriter::publish_named(options_of(path));
    if (!writer) return 1;
    start(*writer);
    writer->set_life(EngineLife::kReady, 0);
    add_job(*writer, 0, JobState::kDone);
    add_job(*writer, 1, JobState::kFailed);
    add_job(*writer, 2, JobState::kRunning);
  }
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  settle(bytes);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return 0;
}

}  // namespace
}  // namespace vitrine::shm

int main(int count, char** words) { return count == 2 ? vitrine::shm::run(words[1]) : 2; }
