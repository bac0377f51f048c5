// SPDX-License-Identifier: Apache-2.0
// Devices that do what a test tells them.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/device.h"
#include "engine/engine.h"
#include "tests/engine/engine_fixture.h"
#include "tests/engine/scripted_backend.h"

namespace vitrine::engine::testing {

inline Result<void> device_error() { return Error{ErrorClass::kDeviceError, "the device said no"}; }
inline Result<void> wrong_proof() {
  return Error{ErrorClass::kVerifyFailed, "the pairings differ"};
}

inline ScriptedBackend::Script nothing_special() {
  return [](ScriptedStage, unsigned) { return Result<void>(); };
}

inline DeviceSetup scripted_device(ScriptedBackend::Script script,
                                   shm::Backend kind = shm::Backend::kCpu,
                                   std::optional<std::uint64_t> memory_bytes = {}) {
  return {std::make_shared<ScriptedBackend>(std::move(script)), kind, "scripted", 1, memory_bytes};
}

// Devices of one kind that follow one script each: what it is told counts the calls of all of them
// together.
inline std::vector<DeviceSetup> devices_with_one_script(unsigned count,
                                                        const ScriptedBackend::Script& script,
                                                        shm::Backend kind = shm::Backend::kCpu) {
  auto calls = std::make_shared<std::array<std::atomic<unsigned>, 4>>();
  std::vector<DeviceSetup> devices;
  for (unsigned i = 0; i < count; ++i) {
    devices.push_back(scripted_device(
        [calls, script](ScriptedStage stage, unsigned) {
          return script(stage, (*calls)[static_cast<std::size_t>(stage)].fetch_add(1));
        },
        kind));
  }
  return devices;
}

inline std::function<void(EngineOptions&)> with_devices(std::vector<DeviceSetup> devices) {
  return [devices = std::move(devices)](EngineOptions& options) { options.devices = devices; };
}

inline shm::DeviceRecord device_row(EngineFixture& fixture, std::size_t number) {
  return fixture.snapshot().rows<shm::DeviceRecord>().at(number);
}

// The bytes that a device needs for one partition of the circuit.
inline std::uint64_t partition_bytes(const std::filesystem::path& zkey) {
  return working_bytes(check_proving_key_header(zkey, KeyTrust::kInsecure).value(), 1).total();
}

}  // namespace vitrine::engine::testing
