// SPDX-License-Identifier: Apache-2.0
#include "engine/circuit_changes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/circuit_fault.h"
#include "engine/job_lifecycle.h"
#include "engine/kind_tallies.h"
#include "engine/resident_keys.h"

namespace vitrine::engine {
namespace {

bool names_other_key(const CircuitConfiguration& one, const CircuitConfiguration& other) {
  return one.zkey != other.zkey || one.digest != other.digest || one.insecure != other.insecure;
}

template <class Circuits>
auto find_id(Circuits& circuits, const std::string& id) {
  return std::ranges::find_if(circuits, [&id](const auto& known) { return known.id == id; });
}

const ExaminedCircuit* find_examined(const CircuitPlan& plan, const std::string& id) {
  const auto at = std::ranges::find_if(
      plan.examined, [&id](const auto& examined) { return examined.configuration.id == id; });
  return at == plan.examined.end() ? nullptr : &*at;
}

bool is_of(const Job* job, const Circuit& circuit) { return job->circuit.get() == &circuit; }

// Whether the circuit's row is free at once when it retires. Jobs that only wait count too, though
// a successor would take them over.
bool would_leave_at_once(const EngineModel& model, const Circuit& circuit) {
  return circuit.presence() == KeyPresence::kAbsent && circuit.references == 0 &&
         !has_jobs(model, circuit);
}

Result<void> check_rows(const EngineModel& model, const CircuitPlan& plan) {
  std::size_t rows = plan.circuits.size();
  for (const Circuit& circuit : model.keys.circuits()) {
    const std::string& id = circuit.configuration.id;
    const bool stays = find_id(plan.circuits, id) != plan.circuits.end() &&
                       find_examined(plan, id) == nullptr && !circuit.is_retired;
    rows += !stays && !would_leave_at_once(model, circuit);
  }
  if (rows <= kCircuitRowsMax) return {};
  return Error{ErrorClass::kRefused,
               std::to_string(rows) + " circuits, with those that were changed or removed and " +
                   "still have jobs or keys; at most " + std::to_string(kCircuitRowsMax) +
                   " can be shown: try again when they have left"};
}

void retire(Change& change, Circuit& circuit) {
  change.model().keys.retire(circuit);
  change.publish().circuit_changed(circuit);
}

// Jobs that have not begun go over to the circuit's successor.
void hand_over_jobs(Change& change, const Circuit& from, const std::shared_ptr<Circuit>& to) {
  for (Job* job : change.model().jobs.active()) {
    if (!is_of(job, from) || !shm::is_waiting(job->state)) continue;
    job->circuit = to;
    job->asked_for_key = false;
    job->batch = 0;
  }
}

// Takes the place of the circuit with the same id, if there is one. It has no row yet.
std::shared_ptr<Circuit> make_successor(Change& change, const ExaminedCircuit& examined) {
  EngineModel& model = change.model();
  std::shared_ptr<Circuit> made = model.keys.make(examined, change.now());
  made->kind_row = kind_row(model, examined.configuration.kind);
  Circuit* former = model.keys.find(examined.configuration.id);
  if (former == nullptr) return made;
  made->fault = std::exchange(former->fault, {});
  made->is_wanted = former->is_wanted;
  retire(change, *former);
  hand_over_jobs(change, *former, made);
  return made;
}

// Its key stays as it is.
bool configure(Change& change, Circuit& circuit, const CircuitConfiguration& next) {
  if (circuit.configuration == next) return false;
  circuit.configuration = next;
  circuit.kind_row = kind_row(change.model(), next.kind);
  change.publish().circuit_changed(circuit);
  return true;
}

void take_away(Change& change, Circuit& circuit) {
  if (!circuit.fault.empty()) change.recover(std::exchange(circuit.fault, {}));
  retire(change, circuit);
}

// Jobs whose circuit cannot be proved as it is now.
void fail_impossible_jobs(Change& change, const Circuit& circuit) {
  const auto refusal = lasting_refusal(change.model(), circuit);
  if (!refusal) return;
  const bool is_impossible = refusal->reason == RefusalReason::kImpossible;
  const ErrorClass error_class = is_impossible ? ErrorClass::kOutOfMemory : ErrorClass::kInternal;
  const std::vector<Job*> active = change.model().jobs.active();
  for (Job* job : active) {
    if (!is_of(job, circuit) || !shm::is_waiting(job->state)) continue;
    stop_job(change, *job,
             {error_class, refusal->text, shm::PartitionStage::kPending, job->to_start(), {}});
  }
}

void judge_circuits(Change& change) {
  EngineModel& model = change.model();
  for (const Circuit* circuit : choose_resident_keys(model)) {
    change.log("key does not fit beside the others", circuit->configuration.id,
               JournalLevel::kWarn);
  }
  for (Circuit& circuit : model.keys.circuits()) {
    if (!circuit.is_retired) judge_circuit(change, circuit);
  }
}

std::vector<std::string> ids_of(const std::vector<CircuitConfiguration>& circuits) {
  std::vector<std::string> ids;
  for (const CircuitConfiguration& circuit : circuits) ids.push_back(circuit.id);
  return ids;
}

void remove_missing(Change& change, const CircuitPlan& plan, CircuitChanges& changes) {
  for (Circuit& circuit : change.model().keys.circuits()) {
    const std::string& id = circuit.configuration.id;
    if (circuit.is_retired || find_id(plan.circuits, id) != plan.circuits.end()) continue;
    changes.removed.push_back(id);
    take_away(change, circuit);
  }
}

// Circuits that are to be added, their predecessors retired.
std::vector<std::shared_ptr<Circuit>> make_all(Change& change, const CircuitPlan& plan,
                                               CircuitChanges& changes) {
  std::vector<std::shared_ptr<Circuit>> made;
  for (const CircuitConfiguration& next : plan.circuits) {
    Circuit* known = change.model().keys.find(next.id);
    if (const ExaminedCircuit* examined = find_examined(plan, next.id)) {
      (known == nullptr ? changes.added : changes.changed).push_back(next.id);
      made.push_back(make_successor(change, *examined));
    } else if (known != nullptr && configure(change, *known, next)) {
      changes.changed.push_back(next.id);
    }
  }
  return made;
}

void add_all(Change& change, const std::vector<std::shared_ptr<Circuit>>& made) {
  drop_retired(change);  // for their rows
  for (const std::shared_ptr<Circuit>& circuit : made) {
    change.model().keys.add(circuit);
    change.publish().circuit_added(*circuit);
  }
}

}  // namespace

KnownCircuit known_circuit(const Circuit& circuit) {
  return {circuit.configuration, circuit.file, circuit.shape.has_value()};
}

bool has_other_key(const KnownCircuit& known, const CircuitConfiguration& next) {
  if (names_other_key(known.configuration, next)) return true;
  const FileStamp file = FileStamp::of(next.zkey);
  // One that could not be read may have been given other rights since.
  return known.has_shape ? !file.has_bytes_of(known.file) : file != known.file;
}

CircuitPlan plan_circuits(const std::vector<CircuitConfiguration>& next,
                          const std::vector<KnownCircuit>& known) {
  CircuitPlan plan;
  plan.circuits = next;
  for (const CircuitConfiguration& circuit : next) {
    const auto at = std::ranges::find_if(
        known, [&](const KnownCircuit& one) { return one.configuration.id == circuit.id; });
    if (at != known.end() && !has_other_key(*at, circuit)) continue;
    plan.examined.push_back(examine_circuit(circuit));
  }
  return plan;
}

Result<CircuitChanges> take_circuits(Change& change, const CircuitPlan& plan) {
  if (auto rows = check_rows(change.model(), plan); !rows) return rows.error();
  CircuitChanges changes;
  remove_missing(change, plan, changes);
  const auto made = make_all(change, plan, changes);
  add_all(change, made);
  change.model().keys.arrange(ids_of(plan.circuits));
  judge_circuits(change);
  for (const auto& circuit : made) fail_impossible_jobs(change, *circuit);
  return changes;
}

Result<void> renew_circuit(Change& change, const ExaminedCircuit& examined) {
  CircuitPlan plan;
  plan.examined.push_back(examined);
  for (const Circuit& circuit : change.model().keys.circuits()) {
    if (!circuit.is_retired) plan.circuits.push_back(circuit.configuration);
  }
  const auto changes = take_circuits(change, plan);
  if (!changes) return changes.error();
  return {};
}

void drop_retired(Change& change) {
  EngineModel& model = change.model();
  for (std::size_t place = 0; place < model.keys.circuits().size();) {
    Circuit& circuit = model.keys.circuits()[place];
    if (circuit.is_retired && !has_jobs(model, circuit)) {
      if (circuit.presence() == KeyPresence::kReady) {
        model.keys.begin_eviction(circuit, change.now());
        change.publish().key_leaving(circuit);
        change.log("key evicted", circuit.configuration.id + ": it is not configured any more");
      }
      if (circuit.presence() == KeyPresence::kAbsent && circuit.references == 0) {
        change.publish().circuit_removed(circuit);
        model.keys.remove(circuit);
        continue;  // the next one has its place
      }
    }
    ++place;
  }
}

bool has_jobs(const EngineModel& model, const Circuit& circuit) {
  return std::ranges::any_of(model.jobs.active(),
                             [&circuit](const Job* job) { return is_of(job, circuit); });
}

}  // namespace vitrine::engine
