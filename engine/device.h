// SPDX-License-Identifier: Apache-2.0
// A device: something that proves. Its kernels run for one partition at a time.
//
// Threads: guarded by the engine's state mutex; what DeviceSetup says does not change.
// Why: small on purpose. Whatever computes joins by its Backend and the few facts below; who works
// for it, what it may run and when it is trusted is the same for all (device_choice.h,
// device_health.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/backend.h"
#include "shm/field.h"
#include "shm/words.h"

namespace vitrine::engine {

struct Partition;

// What the engine is given to prove with.
struct DeviceSetup {
  std::shared_ptr<Backend> backend;
  shm::Backend kind = shm::Backend::kCpu;
  std::string name;
  std::uint32_t threads = 1;  // of its kernels
  // Of its own; none: it works in the host's memory, which the budget bounds.
  std::optional<std::uint64_t> memory_bytes;
};

struct Device {
  std::uint32_t number = 0;
  DeviceSetup setup;
  std::uint32_t workers = 0;

  shm::DeviceState state = shm::DeviceState::kUp;
  shm::Instant state_since;
  std::string fault;        // why the engine is degraded for its sake; empty when it is not
  bool stands_by = false;   // takes no work as long as another device does
  bool is_standby = false;  // there for when all others are gone

  std::uint64_t proofs = 0, proofs_invalid = 0, failures = 0;
  // Since it was last taken back:
  std::uint32_t strikes = 0;        // invalid proofs that no other device has repeated
  std::uint32_t errors_in_row = 0;  // device errors without a proof in between

  const Partition* in_kernels = nullptr;

  [[nodiscard]] bool is_trusted() const {
    return state == shm::DeviceState::kUp || state == shm::DeviceState::kDegraded;
  }
  [[nodiscard]] bool takes_work() const { return is_trusted() && !stands_by; }
};

}  // namespace vitrine::engine
