// SPDX-License-Identifier: Apache-2.0
// Which device may run which partition.
//
// Threads: pure functions; the facts must not change meanwhile.
// Why: whoever chooses (device_choice.h), retries, refuses or gives up asks the same question.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/device.h"

namespace vitrine::engine {

// What of a partition decides where it may run.
struct DeviceDemand {
  std::uint64_t bytes = 0;                // of a device's own memory
  std::optional<std::uint32_t> excluded;  // the device that has failed it already
};

[[nodiscard]] DeviceDemand demand_of(const Partition& partition);

// That the device takes work, and this.
[[nodiscard]] bool may_run(const Device& device, const DeviceDemand& demand);

[[nodiscard]] bool any_takes_work(std::span<const Device> devices);
[[nodiscard]] bool any_may_run(std::span<const Device> devices, const DeviceDemand& demand);
// The largest memory of a device that takes work; none: there is one without a limit, or no device
// takes work.
[[nodiscard]] std::optional<std::uint64_t> largest_memory(std::span<const Device> devices);

}  // namespace vitrine::engine
