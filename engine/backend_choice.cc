// SPDX-License-Identifier: Apache-2.0
#include "engine/backend_choice.h"

#include <filesystem>
#include <fstream>

namespace vitrine::engine {

HostGpu probe_gpu() {
  std::error_code ignored;
  for (const char* sign : {"/dev/nvidiactl", "/proc/driver/nvidia/version"}) {
    if (std::filesystem::exists(sign, ignored)) return HostGpu::kPresent;
  }
  return HostGpu::kAbsent;
}

std::string why_no_gpu(HostGpu gpu) {
  return gpu == HostGpu::kPresent
             ? "this build has no CUDA backend for the NVIDIA device present"
             : "no NVIDIA device was found, and this build has no CUDA backend";
}

BackendChoice choose_backend(shm::Backend requested, HostGpu gpu) {
  BackendChoice choice{requested, shm::Backend::kCpu, {}};
  const bool expects_gpu = requested == shm::Backend::kCuda ||
                           (requested == shm::Backend::kAuto && gpu == HostGpu::kPresent);
  if (expects_gpu) choice.fallback = "proving on the CPU: " + why_no_gpu(gpu);
  return choice;
}

std::string cpu_model_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

}  // namespace vitrine::engine
