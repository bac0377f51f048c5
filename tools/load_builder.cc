// SPDX-License-Identifier: Apache-2.0
#include "tools/load_builder.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <limits>
#include <string_view>

namespace vitrine::tools {
namespace {

namespace json = boost::json;

// Those that the simulator takes, but for the memory, which a setting may leave to the machine.
constexpr std::array<std::string_view, 9> kSettings = {
    "synthesis_concurrency", "workers_per_device", "device_queue_capacity",
    "job_queue_capacity",    "key_loaders",        "eviction_min_idle",
    "starvation_limit",      "max_batch_size",     "max_batch_wait"};

std::string duration_of(std::uint64_t duration_ns) {
  return std::to_string((duration_ns + 500'000) / 1'000'000) + "ms";
}

std::uint64_t between(shm::Instant begin, shm::Instant end) {
  return end.ns > begin.ns ? end.ns - begin.ns : 0;
}

std::string line_of(const json::object& object) { return json::serialize(object) + "\n"; }

}  // namespace

std::string LoadBuilder::Mean::text() const { return duration_of(count == 0 ? 0 : sum_ns / count); }

void LoadBuilder::add(const shm::Snapshot& snapshot) {
  add_settings(snapshot);
  add_keys(snapshot);
  for (const auto& job : snapshot.rows<shm::JobRecord>()) {
    if (job.partitions > 0) jobs_[job.job.value] = job;
  }
  add_partitions(snapshot);
}

void LoadBuilder::add_settings(const shm::Snapshot& snapshot) {
  for (const auto& row : snapshot.rows<shm::SettingRecord>()) {
    const bool is_simulated = std::ranges::find(kSettings, row.name.view()) != kSettings.end();
    if (is_simulated) settings_[std::string(row.name.view())] = row.value.view();
  }
  settings_["memory_budget"] = std::to_string(snapshot.memory().budget_bytes);
  devices_ = std::max<std::size_t>(1, snapshot.rows<shm::DeviceRecord>().size());
}

void LoadBuilder::add_keys(const shm::Snapshot& snapshot) {
  std::map<std::string, std::uint64_t> key_bytes;
  for (const auto& row : snapshot.rows<shm::AllocationRecord>()) {
    const std::string id(row.circuit.view());
    Circuit& circuit = circuits_[id];
    key_bytes[id] += row.total_bytes;
    circuit.key_bytes = key_bytes[id];
    circuit.keep_resident = row.keep_resident != 0;
    if (row.kind != shm::AllocationKind::kSrs) continue;
    if (row.state == shm::AllocationState::kLoading) {
      circuit.loading_since_ns = row.state_since.ns;
    } else if (row.state == shm::AllocationState::kReady && circuit.loading_since_ns != 0) {
      circuit.load_ns = between({circuit.loading_since_ns}, row.state_since);
      circuit.was_loaded = true;
      circuit.loading_since_ns = 0;
    }
  }
}

// Each partition counts once, with the end that was seen of it.
void LoadBuilder::add_partitions(const shm::Snapshot& snapshot) {
  for (const auto& partition : snapshot.rows<shm::PartitionRecord>()) {
    const auto job = jobs_.find(partition.job.value);
    if (job == jobs_.end()) continue;
    Circuit& circuit = circuits_[std::string(job->second.circuit.view())];
    circuit.partition_bytes = std::max(circuit.partition_bytes, partition.reserved_bytes);
    if (partition.stage != shm::PartitionStage::kDone) continue;
    auto& measured = measured_[{partition.job.value, partition.partition}];
    if (measured == partition.finished.ns) continue;
    measured = partition.finished.ns;
    const auto count = [](Mean& mean, shm::Instant begin, shm::Instant end) {
      mean.sum_ns += between(begin, end);
      ++mean.count;
    };
    count(circuit.synthesize, partition.synth_start, partition.synth_end);
    count(circuit.device, partition.gpu_start, partition.gpu_end);
    count(circuit.verify, partition.gpu_end, partition.finished);
  }
}

std::vector<std::string> LoadBuilder::gaps() const {
  std::vector<std::string> gaps;
  for (const auto& [id, circuit] : circuits_) {
    if (circuit.device.count == 0) {
      gaps.push_back("circuit " + id + ": no partition was seen to its end; its times are 0");
    }
    if (circuit.partition_bytes == 0) {
      gaps.push_back("circuit " + id + ": no partition was seen at work; its memory is 0");
    }
    if (!circuit.was_loaded) {
      gaps.push_back("circuit " + id + ": its key was not seen to be loaded; that takes 0");
    }
  }
  return gaps;
}

std::string LoadBuilder::text() const {
  json::object settings;
  for (const auto& [name, value] : settings_) settings[name] = value;
  std::string text = line_of({{"settings", settings}});
  text += line_of({{"devices", devices_}});
  for (const auto& [id, circuit] : circuits_) {
    text += line_of({{"circuit", id},
                     {"key_bytes", circuit.key_bytes},
                     {"partition_bytes", circuit.partition_bytes},
                     {"load", duration_of(circuit.load_ns)},
                     {"synthesize", circuit.synthesize.text()},
                     {"start", circuit.device.text()},
                     {"verify", circuit.verify.text()},
                     {"keep_resident", circuit.keep_resident}});
  }
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [id, job] : jobs_) first_ns = std::min(first_ns, job.submitted.ns);
  for (const auto& [id, job] : jobs_) {
    json::object line{{"job", std::string(job.circuit.view())},
                      {"at", duration_of(job.submitted.ns - first_ns)},
                      {"partitions", job.partitions},
                      {"priority", std::string(shm::word(job.priority))}};
    if (job.deadline.is_set()) line["deadline"] = duration_of(between(job.submitted, job.deadline));
    text += line_of(line);
  }
  return text;
}

}  // namespace vitrine::tools
