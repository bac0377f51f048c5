// SPDX-License-Identifier: Apache-2.0
// A load for the simulator: circuits with sizes and times, and jobs with their arrivals
// (docs/simulator.md).
//
// Units: bytes and nanoseconds of virtual time, from 0.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/configuration.h"
#include "engine/error.h"
#include "shm/words.h"

namespace vitrine::engine {

struct SimulatedCircuit {
  std::string id;
  std::uint64_t key_bytes = 0, partition_bytes = 0;
  std::uint64_t freed_bytes = 0;  // of a partition, given back after `start_ns`
  std::uint64_t load_ns = 0;      // of the key
  std::uint64_t synthesize_ns = 0, start_ns = 0, finish_ns = 0, verify_ns = 0;
  bool keep_resident = false;
};

struct SimulatedJob {
  std::uint32_t circuit = 0;  // index
  std::uint64_t at_ns = 0;
  std::uint32_t partitions = 1;
  shm::Priority priority = shm::Priority::kNormal;
  std::uint64_t deadline_ns = 0;  // after `at_ns`; zero: none
};

struct SimulatedLoad {
  Configuration configuration;  // only what scheduling depends on
  std::uint32_t devices = 1;
  std::vector<SimulatedCircuit> circuits;
  std::vector<SimulatedJob> jobs;  // by arrival
};

// One JSON object a line. Errors (kBadInput): name, line and rule.
[[nodiscard]] Result<SimulatedLoad> parse_simulated_load(std::string_view text,
                                                         const std::string& name);
[[nodiscard]] Result<SimulatedLoad> read_simulated_load(const std::filesystem::path& path);

}  // namespace vitrine::engine
