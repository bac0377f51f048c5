// SPDX-License-Identifier: Apache-2.0
// An engine of two devices with more of everything that has a name than a metric's label may have
// values, and with names that a text format could break on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shm/segment_writer.h"

namespace vitrine::exporters::testing {

// At most 16 bytes each, and different where they are shown.
inline const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> kNames = {"quo\"te",
                                                  "line\nfeed",
                                                  "bad\xFF",
                                                  "\xFF\xFE\xE2\x82",
                                                  "\xF0\x9F\x94\xA5",
                                                  "</script>",
                                                  "back\\slash",
                                                  "tab\tcr\rend",
                                                  "{le=\"1\"} 5\n#",
                                                  "=1+1",
                                                  "\x01\x7F\x1B[31m",
                                                  "\xC3\xBC\xE2\x82\xAC",
                                                  "other",
                                                  "le",
                                                  "a b,c",
                                                  std::string("nul\0tail", 8)};
  return kNames;
}

inline std::string hostile_name(std::size_t number) {
  const auto& names = hostile_names();
  if (number < names.size()) return names[number];
  return std::to_string(number) + "\n\"";
}

inline shm::SegmentOptions crowded_segment(const std::filesystem::path& path) {
  shm::SegmentOptions options;
  options.instance = "crowded";
  options.path = path;
  options.engine_version = "1.0 \"\\\n\xFF\xF0\x9F\x94\xA5</script>";
  options.api_socket_path = "/nowhere/api.sock";
  options.capacity.devices = 2;
  options.capacity.workers = 4;
  options.heartbeat_interval_ns = 2'000'000'000;  // a busy machine does not make it look hung
  options.extra_fields = {{.table = shm::SectionId::kEngine,
                           .name = "x_fees",
                           .semantics = shm::Semantics::kCounter,
                           .help = "fees \"taken\"\nin \\ cents"},
                          {.table = shm::SectionId::kDevices, .name = "x_spin", .help = "turns"},
                          {.table = shm::SectionId::kMemory,
                           .name = "x_note",
                           .type = shm::FieldType::kText,
                           .size_bytes = 16,
                           .help = "a text is no metric"}};
  return options;
}

inline void fill_kinds(shm::Transaction& open) {
  std::uint32_t times_row = 0;
  for (std::uint32_t row = 0; row < open.capacity<shm::CountersRecord>(); ++row) {
    auto& counters = open.edit<shm::CountersRecord>(row);
    counters.proof_kind.assign(hostile_name(row));
    counters.submitted = counters.done = row + 1;
    for (std::uint32_t stage = 1; stage < 8; ++stage, ++times_row) {
      auto& times = open.edit<shm::StageTimesRecord>(times_row);
      times.proof_kind.assign(hostile_name(row));
      times.stage = static_cast<shm::PartitionStage>(stage);
      times.count = times.times.counts.size();
      times.times.counts.fill(1);
      times.sum_ns = 1'500'000'000;
    }
  }
}

inline void fill_names(shm::Transaction& open) {
  for (std::uint32_t row = 0; row < open.capacity<shm::AllocationRecord>(); ++row) {
    auto& held = open.edit<shm::AllocationRecord>(row);
    held.kind = row % 2 == 0 ? shm::AllocationKind::kSrs : shm::AllocationKind::kPce;
    held.state = shm::AllocationState::kReady;
    held.circuit.assign(hostile_name(row / 2));
    held.reserved_bytes = 1;
    held.last_used = {1 + row};
    held.loads = 1;
  }
  for (std::uint32_t row = 0; row < open.capacity<shm::LimiterRecord>(); ++row) {
    auto& limiter = open.edit<shm::LimiterRecord>(row);
    limiter.name.assign(row == 0 ? "job_queue" : hostile_name(row));
    limiter.refused = row + 5;
  }
  for (std::uint32_t row = 0; row < 40; ++row) {
    auto& job = open.edit<shm::JobRecord>(row);
    job.job = {row + 1};
    job.state = row < 20 ? shm::JobState::kRunning : shm::JobState::kDone;
    job.proof_kind.assign(hostile_name(row));
    job.partitions_pending = job.partitions_done = 1;
  }
}

inline void fill_machines(shm::Transaction& open) {
  for (std::uint32_t row = 0; row < 2; ++row) {
    auto& device = open.edit<shm::DeviceRecord>(row);
    device.state = row == 0 ? shm::DeviceState::kUp : shm::DeviceState::kQuarantined;
    device.name.assign(hostile_name(row));
    device.proofs_invalid = row;
    open.edit_extra<shm::DeviceRecord>(row)[0] = 7;
  }
  for (std::uint32_t row = 0; row < 4; ++row) {
    auto& worker = open.edit<shm::WorkerRecord>(row);
    worker.state = row == 0 ? shm::WorkerState::kProving : shm::WorkerState::kIdle;
    worker.device = shm::Index::of(row / 2);
    worker.busy_ns = 1'250'000'000;
  }
  for (std::uint32_t row = 0; row < 15; ++row) {
    auto& queue = open.edit<shm::QueueRecord>(row);
    queue.name = static_cast<shm::QueueName>(1 + row % 3);
    queue.priority = static_cast<shm::Priority>(row / 3);
    queue.depth = 1;
    queue.oldest = {5};
  }
}

inline void fill_crowded(shm::SegmentWriter& writer) {
  {
    auto open = writer.begin();
    auto& engine = open.edit<shm::EngineRecord>();
    engine.started = {1};
    engine.refused_for_capacity = 3;
    engine.kernel_path.assign(hostile_name(0));
    open.edit_extra<shm::EngineRecord>()[0] = 250;
    auto& memory = open.edit<shm::MemoryRecord>();
    memory.budget_bytes = 1'000;
    memory.srs_bytes = memory.reserved_bytes = 10;
    memory.refused_impossible = 4;
    open.edit<shm::BuffersRecord>().aux_in_flight = 9;
    fill_kinds(open);
    fill_names(open);
    fill_machines(open);
  }
  writer.set_life(shm::EngineLife::kReady, 0);
  writer.beat();
}

}  // namespace vitrine::exporters::testing
