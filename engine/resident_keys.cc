// SPDX-License-Identifier: Apache-2.0
#include "engine/resident_keys.h"

#include <algorithm>

#include "engine/circuit_fault.h"

namespace vitrine::engine {

std::vector<const Circuit*> choose_resident_keys(EngineModel& model) {
  std::vector<const Circuit*> without_room;
  std::uint64_t kept_bytes = 0, largest_partition_bytes = 0;
  for (Circuit& circuit : model.keys.circuits()) {
    if (!circuit.configuration.keep_resident || lasting_refusal(model, circuit)) continue;
    const std::uint64_t largest = std::max(largest_partition_bytes, circuit.working.total());
    if (kept_bytes + circuit.key_bytes() + largest > model.budget.total_bytes()) {
      without_room.push_back(&circuit);
      continue;
    }
    kept_bytes += circuit.key_bytes();
    largest_partition_bytes = largest;
    circuit.is_kept = circuit.is_wanted = true;
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
