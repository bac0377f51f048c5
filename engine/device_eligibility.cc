// SPDX-License-Identifier: Apache-2.0
#include "engine/device_eligibility.h"

#include <algorithm>

#include "engine/job.h"

namespace vitrine::engine {

DeviceDemand demand_of(const Partition& partition) {
  return {partition.job->circuit->working.total(), partition.excluded_device};
}

bool may_run(const Device& device, const DeviceDemand& demand) {
  const auto& memory_bytes = device.setup.memory_bytes;
  return device.takes_work() && demand.excluded != device.number &&
         (!memory_bytes || demand.bytes <= *memory_bytes);
}

bool any_takes_work(std::span<const Device> devices) {
  return std::ranges::any_of(devices, &Device::takes_work);
}

bool any_may_run(std::span<const Device> devices, const DeviceDemand& demand) {
  return std::ranges::any_of(devices,
                             [&](const Device& device) { return may_run(device, demand); });
}

std::optional<std::uint64_t> largest_memory(std::span<const Device> devices) {
  std::optional<std::uint64_t> largest;
  for (const Device& device : devices) {
    if (!device.takes_work()) continue;
    if (!device.setup.memory_bytes) return std::nullopt;
    largest = std::max(largest.value_or(0), *device.setup.memory_bytes);
  }
  return largest;
}

}  // namespace vitrine::engine
