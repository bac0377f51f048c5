// SPDX-License-Identifier: Apache-2.0
// Which backend the engine runs on: what was asked for, what there is, and whether the difference
// is a fallback.
//
// Why: a prover that silently falls back to the CPU costs months; one that was never meant to have
// a GPU is not degraded.
#pragma once

#include <string>

#include "engine/configuration.h"

namespace vitrine::engine {

struct BackendChoice {
  shm::Backend requested = shm::Backend::kAuto;
  shm::Backend effective = shm::Backend::kCpu;
  std::string fallback;  // why it is a lesser one than asked for; empty when it is not
};

// Whether the host has an NVIDIA device.
enum class HostGpu { kAbsent, kPresent };
[[nodiscard]] HostGpu probe_gpu();
[[nodiscard]] BackendChoice choose_backend(shm::Backend requested, HostGpu gpu);
// Why no GPU is used, for --require-gpu.
[[nodiscard]] std::string why_no_gpu(HostGpu gpu);

[[nodiscard]] std::string cpu_model_name();

}  // namespace vitrine::engine
