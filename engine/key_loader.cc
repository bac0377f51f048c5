// SPDX-License-Identifier: Apache-2.0
#include "engine/key_loader.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/exception_guard.h"
#include "engine/job_lifecycle.h"

namespace vitrine::engine {
namespace {

Circuit* take_load(EngineState& state) {
  return state.change_when(
      [](const EngineModel& model) { return model.stopping || model.keys.has_loads(); },
      [](Change& change) -> Circuit* {
        return change.model().stopping ? nullptr : change.model().keys.next_load();
      });
}

ProvingKeyOptions options_for(EngineState& state, Circuit& circuit) {
  ProvingKeyOptions options;
  options.insecure = circuit.configuration.insecure;
  options.progress = [&state, &circuit](std::uint64_t done_bytes, std::uint64_t total_bytes) {
    state.change([&](Change& change) {
      circuit.loaded_bytes = done_bytes;
      circuit.file_bytes = total_bytes;
      change.publish().key_progressed(circuit);
    });
  };
  return options;
}

// No job of the circuit has begun: a partition needs the key first.
void fail_waiting_jobs(Change& change, const Circuit& circuit, const Error& error) {
  const std::vector<Job*> active = change.model().jobs.active();
  for (Job* job : active) {
    if (job->circuit != &circuit) continue;
    stop_job(change, *job, {error.error_class, error.text, shm::PartitionStage::kPending, 0, {}});
  }
}

void load(EngineState& state, Circuit& circuit, kernels::ThreadPool& threads) {
  using Loaded = Result<std::shared_ptr<const ProvingKey>>;
  Loaded loaded = guard_all("key load", [&] {
    return load_proving_key(circuit.configuration.zkey, options_for(state, circuit), threads);
  });
  state.change([&](Change& change) {
    if (loaded) {
      change.model().keys.finish_load(circuit, std::move(*loaded), change.now());
      change.log(
          {JournalLevel::kInfo, "key ready", 0, 0, {}, {}, {}, {}, circuit.configuration.id});
    } else {
      change.model().keys.fail_load(circuit, loaded.error(), change.now());
      change.log({JournalLevel::kError,
                  "key refused",
                  0,
                  0,
                  {},
                  {},
                  {},
                  {},
                  circuit.configuration.id + ": " + loaded.error().text});
      fail_waiting_jobs(change, circuit, loaded.error());
    }
    change.publish().key_settled(circuit);
  });
}

}  // namespace

void run_key_loader(EngineState& state, kernels::ThreadPool& threads) {
  while (Circuit* circuit = take_load(state)) load(state, *circuit, threads);
}

}  // namespace vitrine::engine
