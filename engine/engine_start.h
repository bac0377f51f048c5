// SPDX-License-Identifier: Apache-2.0
// What Engine::start does, piece by piece: the segment, the model, and what goes into it.
//
// Threads: the starting thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace vitrine::engine {

// What the configuration asks of this host and the host refuses: groups and memory. Looks only.
[[nodiscard]] std::vector<std::string> host_complaints(const Configuration& configuration);

// What the process of an engine holds before any key or job: what is resident now, and its segment.
[[nodiscard]] std::uint64_t process_bytes();

// The CPUs this process may run on.
[[nodiscard]] unsigned usable_threads();
// As many as configured, or as many as there are.
[[nodiscard]] unsigned kernel_threads(const Configuration& configuration);

// The first id of this incarnation, less one.
[[nodiscard]] JobId first_job_id(std::int64_t unix_ns);

struct Publication {
  shm::SegmentWriter writer;
  std::string not_shared;  // why it is in private memory; empty when it is not
};
[[nodiscard]] StartResult<Publication> publish_segment(const EngineOptions& options);

// Budget, circuits, devices and workers as configured. Reads the headers of the proving keys.
[[nodiscard]] StartResult<std::unique_ptr<EngineModel>> make_model(const EngineOptions& options,
                                                                   unsigned threads);

}  // namespace vitrine::engine
