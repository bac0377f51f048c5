// SPDX-License-Identifier: Apache-2.0
#include "engine/circuit_fault.h"

#include <string>
#include <utility>

namespace vitrine::engine {
namespace {

std::string key_fault(const Circuit& circuit) {
  return "circuit " + circuit.configuration.id + ": " + circuit.cause;
}

// Empty when there is none.
std::string fault_of(const EngineModel& model, const Circuit& circuit) {
  if (const auto refusal = lasting_refusal(model, circuit)) return refusal->text;
  return circuit.state == shm::AllocationState::kCorrupt ? key_fault(circuit) : std::string();
}

}  // namespace

std::optional<Refusal> lasting_refusal(const EngineModel& model, const Circuit& circuit) {
  if (!circuit.shape) return Refusal{RefusalReason::kBadCircuit, key_fault(circuit)};
  const std::uint64_t key_bytes = circuit.key_bytes();
  const std::uint64_t partition_bytes = circuit.working.total();
  if (key_bytes + partition_bytes <= model.budget.total_bytes()) return std::nullopt;
  return Refusal{RefusalReason::kImpossible,
                 "circuit " + circuit.configuration.id + " needs " +
                     std::to_string(key_bytes + partition_bytes) + " bytes (key " +
                     std::to_string(key_bytes) + ", partition " + std::to_string(partition_bytes) +
                     "); the budget is " + std::to_string(model.budget.total_bytes()) + " bytes"};
}

void judge_circuit(Change& change, Circuit& circuit) {
  std::string fault = fault_of(change.model(), circuit);
  if (fault == circuit.fault) return;
  // The new one first: the engine is not well in between.
  if (!fault.empty()) change.degrade(fault);
  if (!circuit.fault.empty()) change.recover(circuit.fault);
  circuit.fault = std::move(fault);
}

}  // namespace vitrine::engine
