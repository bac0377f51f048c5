// SPDX-License-Identifier: Apache-2.0
// Circuits that come, go and change while the engine runs.
//
//   A circuit with another key is another circuit: the old one retires, and a new one takes its id.
//   Jobs that have begun end with the key they began with, all partitions of one alike; the others
//   go over to the new one. A circuit that is taken away keeps all its jobs. A retired circuit is
//   removed when its last job has ended and its key is dropped (docs/decisions/0017).
//
// Threads: inside a change, except plan_circuits(), which reads files.
#pragma once

#include <string>
#include <vector>

#include "engine/circuit_examination.h"
#include "engine/configuration.h"
#include "engine/state.h"

namespace vitrine::engine {

// A circuit as its key was last looked at.
struct KnownCircuit {
  CircuitConfiguration configuration;
  FileStamp file;
  bool has_shape = false;
};

[[nodiscard]] KnownCircuit known_circuit(const Circuit& circuit);

// Whether the configuration names another key than the one that is known, or its file changed.
[[nodiscard]] bool has_other_key(const KnownCircuit& known, const CircuitConfiguration& next);

// What the circuits are to be.
struct CircuitPlan {
  std::vector<CircuitConfiguration> circuits;
  std::vector<ExaminedCircuit> examined;  // those that are new or have another key
};

[[nodiscard]] CircuitPlan plan_circuits(const std::vector<CircuitConfiguration>& next,
                                        const std::vector<KnownCircuit>& known);

// By id.
struct CircuitChanges {
  std::vector<std::string> added, removed, changed;
  [[nodiscard]] bool empty() const { return added.empty() && removed.empty() && changed.empty(); }
};

// Requires: the circuits are those that the plan was made for. kRefused, and nothing has changed,
// when the status plane has no rows for new circuits beside those that have not left yet.
[[nodiscard]] Result<CircuitChanges> take_circuits(Change& change, const CircuitPlan& plan);

// The same for the key of one circuit.
[[nodiscard]] Result<void> renew_circuit(Change& change, const ExaminedCircuit& examined);

// Drops the keys of retired circuits that no job needs any more, then the circuits.
void drop_retired(Change& change);

// Whether a job that is not final is of this very circuit.
[[nodiscard]] bool has_jobs(const EngineModel& model, const Circuit& circuit);

}  // namespace vitrine::engine
