// SPDX-License-Identifier: Apache-2.0
#include "engine/circuit_fault.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/device_eligibility.h"
#include "engine/quantities.h"
#include "engine/resident_keys.h"

namespace vitrine::engine {
namespace {

std::string key_fault(const Circuit& circuit) {
  return "circuit " + circuit.configuration.id + ": " + circuit.cause;
}

// A record has little room: the rule matters more than the folder of the key.
std::string without_folder(std::string fault, const Circuit& circuit) {
  const std::string folder = circuit.configuration.zkey.parent_path() / "";
  const std::size_t at = folder.empty() ? std::string::npos : fault.find(folder);
  if (at != std::string::npos) fault.erase(at, folder.size());
  return fault;
}

// Empty when there is none.
std::string fault_of(const EngineModel& model, const Circuit& circuit) {
  if (const auto refusal = lasting_refusal(model, circuit)) return refusal->text;
  return circuit.cause.empty() ? std::string() : key_fault(circuit);
}

// Sizes that read the same in units are told apart in bytes.
struct ComparedSizes {
  ComparedSizes(std::uint64_t needed_bytes, std::uint64_t limit_bytes)
      : needed(size_text(needed_bytes)), limit(size_text(limit_bytes)) {
    if (needed != limit) return;
    needed = exact_size_text(needed_bytes);
    limit = exact_size_text(limit_bytes);
  }
  std::string needed, limit;
};

std::string need_text(const Circuit& circuit, std::uint64_t budget_bytes,
                      std::uint64_t kept_bytes) {
  const std::uint64_t key_bytes = circuit.key_bytes();
  const std::uint64_t partition_bytes = circuit.working.total();
  const ComparedSizes sizes(key_bytes + partition_bytes, budget_bytes);
  return "needs " + sizes.needed + " (key " + size_text(key_bytes) + ", partition " +
         size_text(partition_bytes) + "); the budget is " + sizes.limit +
         (kept_bytes == 0 ? std::string()
                          : ", of which keys that are kept resident hold " + size_text(kept_bytes));
}

// When no device takes work nobody knows which will: jobs wait.
std::optional<Refusal> device_refusal(const EngineModel& model, const Circuit& circuit) {
  const std::uint64_t needed_bytes = circuit.working.total();
  const auto most_bytes = largest_memory(model.devices);
  if (!most_bytes || needed_bytes <= *most_bytes) return std::nullopt;
  const ComparedSizes sizes(needed_bytes, *most_bytes);
  return Refusal{RefusalReason::kImpossible,
                 "circuit " + circuit.configuration.id + " needs " + sizes.needed +
                     " of a device's memory for a partition; the most that a device has is " +
                     sizes.limit};
}

}  // namespace

std::optional<Refusal> lasting_refusal(const EngineModel& model, const Circuit& circuit) {
  if (!circuit.shape) return Refusal{RefusalReason::kBadCircuit, key_fault(circuit)};
  const std::uint64_t budget_bytes = model.budget.total_bytes();
  const std::uint64_t kept_bytes = kept_bytes_beside(model, circuit);
  if (circuit.key_bytes() + circuit.working.total() + kept_bytes <= budget_bytes) {
    return device_refusal(model, circuit);
  }
  return Refusal{RefusalReason::kImpossible, "circuit " + circuit.configuration.id + " " +
                                                 need_text(circuit, budget_bytes, kept_bytes)};
}

std::optional<Refusal> input_refusal(const Circuit& circuit, std::span<const WitnessFile> files) {
  const bool has_input = std::ranges::any_of(
      files, [](const WitnessFile& file) { return file.kind == WitnessKind::kInput; });
  if (!has_input || !circuit.configuration.witness_command.empty()) return std::nullopt;
  return Refusal{RefusalReason::kNoWitnessCommand,
                 "circuit " + circuit.configuration.id +
                     " has no witness_command, so it takes witnesses, not inputs"};
}

void judge_circuit(Change& change, Circuit& circuit) {
  if (circuit.is_retired) return;
  std::string fault = fault_of(change.model(), circuit);
  if (fault == circuit.fault) return;
  // The new one first: the engine is not well in between.
  if (!fault.empty()) change.degrade({fault, without_folder(fault, circuit)});
  if (!circuit.fault.empty()) change.recover(circuit.fault);
  circuit.fault = std::move(fault);
}

}  // namespace vitrine::engine
