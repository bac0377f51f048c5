// SPDX-License-Identifier: Apache-2.0
// Everything that an engine can be told, with its defaults.
//
// Units: bytes and nanoseconds, as the names say.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "shm/words.h"

namespace vitrine::engine {

// One [circuit.ID].
struct CircuitConfiguration {
  std::string id;
  std::filesystem::path zkey;
  std::string kind;            // proof kind: the word its jobs are counted under
  bool insecure = false;       // accept a key without a phase-2 contribution
  bool keep_resident = false;  // load the key at the start
  // Makes witnesses from inputs (witness_command.h); empty: the circuit takes witnesses only.
  std::vector<std::string> witness_command = {};
  std::uint64_t witness_timeout_ns = 600'000'000'000;
  std::string digest = {};  // SHA-256 of the key's file, in hexadecimal; empty: any
  shm::Priority priority = shm::Priority::kNormal;  // of jobs that name none

  bool operator==(const CircuitConfiguration&) const = default;
};

struct Configuration {
  std::string instance = "main";

  shm::Backend backend = shm::Backend::kAuto;
  bool require_gpu = false;
  std::uint32_t threads = 0;      // of the kernels; zero: as many as this process may run on
  std::uint32_t cpu_devices = 1;  // that share these threads
  std::uint32_t synthesis_concurrency = 1;
  std::uint32_t workers_per_device = 2;
  std::uint32_t device_queue_capacity = 2;
  std::uint32_t job_queue_capacity = 256;
  std::uint32_t key_loaders = 1;  // and one more, kept for critical jobs
  std::uint64_t eviction_min_idle_ns = 1'000'000'000;
  std::uint64_t starvation_limit_ns = 600'000'000'000;  // zero: off
  std::uint32_t max_batch_size = 1;                     // 1: jobs are not collected
  std::uint64_t max_batch_wait_ns = 1'000'000'000;
  std::optional<std::uint64_t> memory_budget_bytes;  // none: what is there, less the margin
  std::uint64_t memory_safety_margin_bytes = std::uint64_t{512} << 20;
  std::uint64_t drain_timeout_ns = 25'000'000'000;
  // How long a thread may be at one step before the engine counts as hung; zero: for ever.
  std::uint64_t step_limit_ns = 3'600'000'000'000;

  std::filesystem::path segment;  // empty: the default place of the instance
  std::uint32_t shm_mode = 0640;
  std::string shm_group;         // empty: the process' own
  std::filesystem::path socket;  // empty: the default place of the instance
  std::string socket_group;      // empty: the process' own

  std::vector<std::filesystem::path> witness_directories;  // that clients may name files in
  std::filesystem::path spool_directory;                   // empty: the default place
  std::uint64_t spool_limit_bytes = std::uint64_t{16} << 30;
  std::uint64_t upload_limit_bytes = std::uint64_t{4} << 30;

  std::string durability = "disk";  // or "none": jobs in memory only
  std::filesystem::path job_store;  // empty: the default place
  std::uint32_t job_attempts = 3;   // at which an engine may die; zero: any number
  std::uint64_t result_retention_ns = 86'400'000'000'000;
  std::uint64_t result_limit_bytes = std::uint64_t{1} << 30;

  std::string log_level = "info";
  std::string log_format = "text";
  std::uint32_t log_limit = 200;  // lines of one phrase in a second; zero: no limit

  std::vector<CircuitConfiguration> circuits;
};

// A setting as it is shown: its name, the value in effect, and where that came from.
struct SettingInEffect {
  std::string name;
  std::string value;
  std::string origin;
};

// Rows of the status plane that limit a configuration: two allocations for a circuit, with room for
// those that were replaced and have not left yet.
inline constexpr std::size_t kCircuitsMax = 64;
inline constexpr std::size_t kCircuitRowsMax = 96;
inline constexpr std::size_t kCircuitIdBytesMax = 32;

}  // namespace vitrine::engine
