// SPDX-License-Identifier: Apache-2.0
// Which devices an engine has: as configured, or as its options say.
//
// Threads: pure, but for reading the processor's name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/configuration.h"
#include "engine/device.h"

namespace vitrine::engine {

struct EngineOptions;

// CPU devices that share `threads` among them: as evenly as can be, each with one at least.
// Requires: 1 <= count <= threads.
[[nodiscard]] std::vector<DeviceSetup> cpu_devices(std::uint32_t count, unsigned threads,
                                                   const std::shared_ptr<Backend>& backend);

// Why the CPU cannot be split as configured; nothing when it can.
[[nodiscard]] std::optional<std::string> split_complaint(const Configuration& configuration,
                                                         unsigned threads);

// Those the engine begins with, and with `auto`, when none of them is the CPU, the CPU to stand by.
[[nodiscard]] std::vector<Device> make_devices(const EngineOptions& options, unsigned threads);

// The most that the kernels of one of them use.
[[nodiscard]] unsigned most_threads(const std::vector<Device>& devices);

}  // namespace vitrine::engine
