// SPDX-License-Identifier: Apache-2.0
#include "engine/device_setup.h"

#include <algorithm>

#include "engine/backend_choice.h"
#include "engine/cpu_backend.h"
#include "engine/engine.h"

namespace vitrine::engine {
namespace {

bool is_cpu(const DeviceSetup& setup) { return setup.kind == shm::Backend::kCpu; }

Device device_of(DeviceSetup setup, std::uint32_t number, const EngineOptions& options) {
  Device device;
  device.number = number;
  device.setup = std::move(setup);
  device.workers = options.configuration.workers_per_device;
  return device;
}

}  // namespace

std::vector<DeviceSetup> cpu_devices(std::uint32_t count, unsigned threads,
                                     const std::shared_ptr<Backend>& backend) {
  std::vector<DeviceSetup> devices(count);
  for (std::uint32_t number = 0; number < count; ++number) {
    devices[number].backend = backend;
    devices[number].name = cpu_model_name();
    devices[number].threads = threads / count + (number < threads % count ? 1 : 0);
  }
  return devices;
}

std::optional<std::string> split_complaint(const Configuration& configuration, unsigned threads) {
  if (configuration.cpu_devices <= threads) return std::nullopt;
  return "cpu_devices = " + std::to_string(configuration.cpu_devices) +
         " is more than the threads of the kernels, " + std::to_string(threads) +
         ": each device needs one";
}

std::vector<Device> make_devices(const EngineOptions& options, unsigned threads) {
  std::vector<DeviceSetup> setups = options.devices;
  if (setups.empty()) {
    const auto backend = options.backend ? options.backend : std::make_shared<CpuBackend>();
    setups = cpu_devices(options.configuration.cpu_devices, threads, backend);
  }
  const bool wants_standby =
      options.configuration.backend == shm::Backend::kAuto && std::ranges::none_of(setups, is_cpu);
  std::vector<Device> devices;
  for (DeviceSetup& setup : setups) {
    const auto number = static_cast<std::uint32_t>(devices.size());
    devices.push_back(device_of(std::move(setup), number, options));
  }
  if (!wants_standby) return devices;
  auto cpu = cpu_devices(1, threads, std::make_shared<CpuBackend>());
  const auto number = static_cast<std::uint32_t>(devices.size());
  devices.push_back(device_of(std::move(cpu[0]), number, options));
  devices.back().is_standby = devices.back().stands_by = true;
  return devices;
}

unsigned most_threads(const std::vector<Device>& devices) {
  unsigned most = 1;
  for (const Device& device : devices) most = std::max(most, device.setup.threads);
  return most;
}

}  // namespace vitrine::engine
