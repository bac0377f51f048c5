// SPDX-License-Identifier: Apache-2.0
#include "engine/resident_keys.h"

#include <algorithm>
#include <utility>

#include "engine/circuit_fault.h"

namespace vitrine::engine {

std::vector<const Circuit*> choose_resident_keys(EngineModel& model) {
  std::vector<const Circuit*> without_room;
  std::uint64_t kept_bytes = 0, largest_partition_bytes = 0;
  for (Circuit& circuit : model.keys.circuits()) {
    if (std::exchange(circuit.is_kept, false)) circuit.is_wanted = false;
  }
  for (Circuit& circuit : model.keys.circuits()) {
    const bool is_to_stay = circuit.configuration.keep_resident && !circuit.is_retired;
    if (!is_to_stay || lasting_refusal(model, circuit)) continue;
    const std::uint64_t largest = std::max(largest_partition_bytes, circuit.working.total());
    if (kept_bytes + circuit.key_bytes() + largest > model.budget.total_bytes()) {
      without_room.push_back(&circuit);
      continue;
    }
    kept_bytes += circuit.key_bytes();
    largest_partition_bytes = largest;
    circuit.is_kept = true;
    const KeyPresence key = circuit.presence();
    const bool is_there = key == KeyPresence::kReady || key == KeyPresence::kLoading;
    circuit.is_wanted = !is_there;
  }
  return without_room;
}

std::uint64_t kept_bytes_beside(const EngineModel& model, const Circuit& circuit) {
  std::uint64_t bytes = 0;
  for (const Circuit& other : model.keys.circuits()) {
    if (other.is_kept && &other != &circuit) bytes += other.key_bytes();
  }
  return bytes;
}

}  // namespace vitrine::engine
