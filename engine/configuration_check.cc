// SPDX-License-Identifier: Apache-2.0
#include "engine/configuration_check.h"

#include <limits>
#include <utility>

#include "engine/backend_choice.h"
#include "engine/circuit_fault.h"
#include "engine/engine_start.h"
#include "engine/resident_keys.h"
#include "engine/witness_command.h"

namespace vitrine::engine {
namespace {

void add_circuits(EngineModel& model, std::vector<std::string>& complaints) {
  const std::vector<const Circuit*> without_room = choose_resident_keys(model);
  for (Circuit& circuit : model.keys.circuits()) {
    if (const auto refusal = lasting_refusal(model, circuit)) complaints.push_back(refusal->text);
  }
  for (const Circuit* circuit : without_room) {
    complaints.push_back("circuit " + circuit->configuration.id +
                         ": keep_resident: its key does not fit beside the others");
  }
}

}  // namespace

std::vector<std::string> command_complaints(const Configuration& configuration) {
  std::vector<std::string> complaints;
  for (const CircuitConfiguration& circuit : configuration.circuits) {
    if (circuit.witness_command.empty()) continue;
    const auto program = find_program(circuit.witness_command.front());
    if (program) continue;
    complaints.push_back("circuit " + circuit.id + ": witness_command: " + program.error().text);
  }
  return complaints;
}

std::vector<std::string> start_complaints(const Configuration& configuration) {
  std::vector<std::string> complaints = host_complaints(configuration);
  if (configuration.require_gpu) {
    complaints.push_back("a GPU is required: " + why_no_gpu(probe_gpu()));
  }
  for (std::string& complaint : command_complaints(configuration)) {
    complaints.push_back(std::move(complaint));
  }
  EngineOptions options;
  options.configuration = configuration;
  options.process_bytes = process_bytes();
  const unsigned threads = kernel_threads(configuration);
  auto model = make_model(options, threads);
  if (!model) {
    // That has been said; without a budget the keys can be judged all the same.
    options.configuration.memory_budget_bytes = std::numeric_limits<std::int64_t>::max();
    model = make_model(options, threads);
  }
  if (!model) return complaints;
  if (!(*model)->degraded.empty()) complaints.push_back((*model)->degraded.text());
  add_circuits(**model, complaints);
  return complaints;
}

}  // namespace vitrine::engine
