// SPDX-License-Identifier: Apache-2.0
// The simulator: runs the engine's scheduler on a load in virtual time.
//
// Threads  pure: the same load gives the same result.
// Cost     a plan for each moment at which something happens; 1,000 jobs in well under a second.
// Why      the decisions are those of scheduler.h and urgency.h, so what is seen here is what the
//          engine would do if stages took the times given.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/simulated_load.h"

namespace vitrine::engine {

struct SimulatedEnd {
  enum class State { kDone, kRefused } state = State::kDone;
  std::uint64_t started_ns = 0, finished_ns = 0;  // when done
};

struct SimulationResult {
  std::vector<SimulatedEnd> jobs;  // as in the load
  std::uint64_t end_ns = 0;        // the last job ended
  std::uint64_t refused_impossible = 0, refused_queue_full = 0;
  std::uint64_t loads = 0, evictions = 0, put_back = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t synthesis_busy_ns = 0, device_busy_ns = 0, loader_busy_ns = 0;
};

[[nodiscard]] SimulationResult simulate(const SimulatedLoad& load);

// What the result says, for people or as one JSON object.
[[nodiscard]] std::string simulation_text(const SimulatedLoad& load,
                                          const SimulationResult& result);
[[nodiscard]] std::string simulation_json(const SimulatedLoad& load,
                                          const SimulationResult& result);

}  // namespace vitrine::engine
