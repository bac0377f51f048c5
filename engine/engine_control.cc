// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_control.h"

#include <algorithm>
#include <utility>

#include "engine/circuit_fault.h"
#include "engine/live_settings.h"
#include "engine/status_records.h"

namespace vitrine::engine {
namespace {

using Kind = CircuitAnswer::Kind;

std::uint32_t jobs_of(const EngineModel& model, const Circuit& circuit) {
  return static_cast<std::uint32_t>(std::ranges::count_if(
      model.jobs.active(), [&circuit](const Job* job) { return job->circuit.get() == &circuit; }));
}

CircuitStatus status_of(const EngineModel& model, const Circuit& circuit) {
  return {srs_record_of(circuit),  circuit.configuration,
          circuit.cause,           circuit.srs.reserved_bytes() + circuit.pce.reserved_bytes(),
          jobs_of(model, circuit), circuit.is_retired,
          circuit.is_wanted};
}

Error draining() { return {ErrorClass::kRefused, "the engine is draining"}; }

CircuitAnswer unknown(std::string_view id) {
  return {Kind::kUnknown, "no circuit '" + std::string(id) + "'"};
}

std::string counted(std::size_t number, const std::string& thing) {
  return std::to_string(number) + " " + thing + (number == 1 ? "" : "s");
}

// What keeps the key; empty when nothing does.
std::string why_in_use(const EngineModel& model, const Circuit& circuit) {
  const std::uint32_t jobs = jobs_of(model, circuit);
  if (jobs > 0 || circuit.references > 0) {
    return counted(jobs, "job") + " and " + counted(circuit.references, "partition") + " use it";
  }
  if (circuit.is_kept) return "keep_resident is set";
  return circuit.presence() == KeyPresence::kLoading ? "it is being loaded" : "";
}

CircuitAnswer want(Change& change, Circuit& circuit) {
  if (change.model().is_draining()) return {Kind::kDraining, draining().text};
  if (const auto refusal = lasting_refusal(change.model(), circuit)) {
    return {Kind::kImpossible, refusal->text};
  }
  const KeyPresence key = circuit.presence();
  if (key == KeyPresence::kReady || key == KeyPresence::kLoading) return {Kind::kNothingToDo, {}};
  circuit.is_wanted = true;
  change.log("key asked for", circuit.configuration.id);
  return {};
}

CircuitAnswer drop(Change& change, Circuit& circuit) {
  const std::string why = why_in_use(change.model(), circuit);
  if (!why.empty()) return {Kind::kInUse, "circuit " + circuit.configuration.id + ": " + why};
  circuit.is_wanted = false;
  if (circuit.presence() != KeyPresence::kReady) return {Kind::kNothingToDo, {}};
  change.model().keys.begin_eviction(circuit, change.now());
  change.publish().key_leaving(circuit);
  change.log("key evicted", circuit.configuration.id + ": by an operator");
  return {};
}

}  // namespace

Result<CircuitChanges> EngineControl::take(const Configuration& next,
                                           const std::vector<SettingInEffect>& settings) {
  const std::lock_guard one_at_a_time(mutex_);
  std::vector<KnownCircuit> known;
  state_.look([&known](EngineModel& model) {
    for (const Circuit& circuit : model.keys.circuits()) {
      if (!circuit.is_retired) known.push_back(known_circuit(circuit));
    }
  });
  const CircuitPlan plan = plan_circuits(next.circuits, known);
  return state_.change([&](Change& change) -> Result<CircuitChanges> {
    if (change.model().is_draining()) return draining();
    auto changes = take_circuits(change, plan);
    if (!changes) return changes.error();
    apply_live_settings(change.model(), next);
    change.publish().settings(settings);
    return changes;
  });
}

CircuitAnswer EngineControl::preload(std::string_view id) {
  const std::lock_guard one_at_a_time(mutex_);
  const auto known = state_.look([id](EngineModel& model) -> std::optional<KnownCircuit> {
    const Circuit* circuit = model.keys.find(id);
    const bool is_absent = circuit != nullptr && circuit->presence() == KeyPresence::kAbsent;
    return is_absent ? std::optional(known_circuit(*circuit)) : std::nullopt;
  });
  std::optional<ExaminedCircuit> examined;
  if (known && has_other_key(*known, known->configuration)) {
    examined = examine_circuit(known->configuration);
  }
  return state_.change([&](Change& change) -> CircuitAnswer {
    const ProvingKeyCache& keys = change.model().keys;
    if (keys.find(id) == nullptr) return unknown(id);
    // It may have been loaded meanwhile, for a job.
    if (examined && keys.find(id)->presence() == KeyPresence::kAbsent) {
      const auto renewed = renew_circuit(change, *examined);
      if (!renewed) return {Kind::kInUse, renewed.error().text};
    }
    return want(change, *keys.find(id));
  });
}

CircuitAnswer EngineControl::evict(std::string_view id) {
  const std::lock_guard one_at_a_time(mutex_);
  return state_.change([id](Change& change) {
    Circuit* circuit = change.model().keys.find(id);
    return circuit == nullptr ? unknown(id) : drop(change, *circuit);
  });
}

std::vector<CircuitStatus> EngineControl::circuits() {
  return state_.look([](EngineModel& model) {
    std::vector<CircuitStatus> circuits;
    for (const Circuit& circuit : model.keys.circuits()) {
      circuits.push_back(status_of(model, circuit));
    }
    return circuits;
  });
}

std::optional<CircuitStatus> EngineControl::circuit(std::string_view id) {
  return state_.look([id](EngineModel& model) -> std::optional<CircuitStatus> {
    const Circuit* circuit = model.keys.find(id);
    return circuit == nullptr ? std::nullopt : std::optional(status_of(model, *circuit));
  });
}

bool EngineControl::is_draining() {
  return state_.look([](EngineModel& model) { return model.is_draining(); });
}

void EngineControl::log(std::string_view what, std::string detail, JournalLevel level) {
  state_.change([&](Change& change) { change.log(what, std::move(detail), level); });
}

}  // namespace vitrine::engine
