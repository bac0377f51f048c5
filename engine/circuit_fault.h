// SPDX-License-Identifier: Apache-2.0
// Why a configured circuit cannot be proved, and that the engine says so before a job asks.
//
// Threads: inside a change.
#pragma once

#include <optional>
#include <span>

#include "engine/job_request.h"
#include "engine/state.h"

namespace vitrine::engine {

// Why no job of the circuit can be taken as long as the engine runs: its key's header could not be
// read at the start, or it needs more than the budget, or than any device has that takes work.
[[nodiscard]] std::optional<Refusal> lasting_refusal(const EngineModel& model,
                                                     const Circuit& circuit);

// Why the circuit cannot take the files: inputs, from which it has nothing to make witnesses with.
[[nodiscard]] std::optional<Refusal> input_refusal(const Circuit& circuit,
                                                   std::span<const WitnessFile> files);

// Degrades the engine while the circuit cannot be proved, and takes that back when a load went
// well. After the start, each load and each reload; no effect on one that is retired.
void judge_circuit(Change& change, Circuit& circuit);

}  // namespace vitrine::engine
