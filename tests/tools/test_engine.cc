// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/test_engine.h"

#include <array>
#include <fstream>
#include <iterator>
#include <span>

#include "shm/clock.h"
#include "shm/paths.h"
#include "shm/segment_layout_check.h"

namespace vitrine::tests {
namespace {

using shm::PartitionStage;

constexpr std::array<PartitionStage, 4> kStages = {
    PartitionStage::kDone, PartitionStage::kGpuProving, PartitionStage::kSynthesizing,
    PartitionStage::kPending};

void fill_job(shm::Transaction& transaction, shm::Instant now) {
  auto& job = transaction.recycle<shm::JobRecord>(0);
  job.job = {kTestJob};
  job.state = shm::JobState::kRunning;
  job.priority = shm::Priority::kNormal;
  job.circuit.assign("sha256");
  job.proof_kind.assign("porep");
  job.attempt = 1;
  job.partitions = kStages.size();
  job.partitions_pending = job.partitions_synthesizing = job.partitions_gpu_proving =
      job.partitions_done = 1;
  job.submitted = job.admitted = job.started = now;
  for (std::uint32_t number = 0; number < kStages.size(); ++number) {
    auto& partition = transaction.recycle<shm::PartitionRecord>(number);
    partition.job = {kTestJob};
    partition.job_row = shm::Index::of(0);
    partition.partition = number;
    partition.stage = kStages[number];
    partition.attempt = 1;
    partition.created = now;
  }
}

}  // namespace

shm::SegmentWriter publish_engine(const std::filesystem::path& directory,
                                  const std::string& instance, std::uint64_t interval_ns) {
  return publish_engine_at(shm::segment_path_in(directory, instance), instance, interval_ns);
}

shm::SegmentWriter publish_engine_at(const std::filesystem::path& path, const std::string& instance,
                                     std::uint64_t interval_ns) {
  shm::SegmentOptions options;
  options.instance = instance;
  options.path = path;
  options.engine_version = "0.1.0";
  options.api_socket_path = (path.parent_path() / "none.sock").string();
  options.heartbeat_interval_ns = interval_ns;
  options.capacity = {.jobs = 8,
                      .partitions = 64,
                      .workers = 2,
                      .devices = 1,
                      .allocations = 2,
                      .queues = 3,
                      .counters = 2,
                      .events = kTestEventCapacity};
  auto published = shm::SegmentWriter::publish_named(options);
  if (!published) throw std::runtime_error(published.error().text);
  shm::SegmentWriter writer = std::move(*published);
  const shm::Instant now{shm::monotonic_ns()};
  {
    shm::Transaction transaction = writer.begin();
    auto& engine = transaction.edit<shm::EngineRecord>();
    engine.requested_backend = shm::Backend::kAuto;
    engine.effective_backend = shm::Backend::kCpu;
    engine.started = now;
    auto& worker = transaction.recycle<shm::WorkerRecord>(0);
    worker.state = shm::WorkerState::kProving;
    worker.device = shm::Index::of(0);
    worker.partition = shm::Index::of(1);
    worker.job = {kTestJob};
    worker.stage = PartitionStage::kGpuProving;
    worker.since = now;
    fill_job(transaction, now);
  }
  writer.set_life(shm::EngineLife::kReady, 0);
  writer.beat();
  return writer;
}

void append_events(shm::SegmentWriter& writer, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    shm::Transaction transaction = writer.begin();
    shm::Event event;
    event.time = {shm::monotonic_ns()};
    event.type = shm::EventType::kGpuStart;
    event.job = {kTestJob};
    event.argument = i + 1;
    transaction.append(event);
  }
}

namespace {

shm::SectionPlace place_of(const std::string& bytes, shm::SectionId section) {
  const auto header = std::as_bytes(std::span(bytes)).first(shm::kCheckedHeaderBytes);
  return shm::check_layout(header, bytes.size(), "test").value().place(section);
}

}  // namespace

void overwrite_row(const std::filesystem::path& path, shm::SectionId table, std::size_t index,
                   std::uint64_t word) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const shm::SectionPlace place = place_of(bytes, table);
  file.clear();
  file.seekp(static_cast<std::streamoff>(place.offset_bytes + index * sizeof(word)));
  file.write(reinterpret_cast<const char*>(&word), sizeof(word));
}

void damage_events(const std::filesystem::path& path) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const shm::SectionPlace place = place_of(bytes, shm::SectionId::kEvents);
  file.clear();
  file.seekp(static_cast<std::streamoff>(place.offset_bytes));
  const std::size_t ring_bytes = shm::kLineBytes + place.count * place.stride_bytes;
  file.write(std::string(ring_bytes, 'Z').data(), static_cast<std::streamsize>(ring_bytes));
}

}  // namespace vitrine::tests
