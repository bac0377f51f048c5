// SPDX-License-Identifier: Apache-2.0
#include "engine/synthesis_stage.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/exception_guard.h"
#include "engine/job_lifecycle.h"

namespace vitrine::engine {
namespace {

// What the thread needs of the model while it computes; the job cannot go before its partition.
struct SynthesisWork {
  Partition* partition;
  std::shared_ptr<const ProvingKey> key;
  std::filesystem::path witness;
  std::string label;  // of the witness, in errors
};

std::optional<SynthesisWork> take_granted(EngineState& state, ThreadRow row) {
  return state.change_when(
      [](const EngineModel& model) { return model.stopping || !model.granted.empty(); },
      [row](Change& change) -> std::optional<SynthesisWork> {
        if (change.model().stopping) return std::nullopt;
        Partition& partition = *change.model().granted.front();
        start_synthesis(change, partition);
        take_step(change, row, "synthesizing", &partition);
        return SynthesisWork{&partition, partition.job->circuit->key, partition.witness.path,
                             witness_label(partition.number, partition.witness)};
      });
}

Result<std::unique_ptr<Synthesized>> make(const SynthesisWork& work, Backend& backend,
                                          kernels::ThreadPool& threads) {
  const StageContext context{threads, work.partition->job->cancelled};
  auto witness = read_witness(work.witness, work.key->shape, work.label);
  if (!witness) return witness.error();
  if (context.cancelled.load(std::memory_order_relaxed)) return cancelled_error();
  auto values = backend.synthesize(*work.key, *witness, context);
  if (!values) return values.error();
  return std::make_unique<Synthesized>(Synthesized{std::move(*witness), std::move(*values)});
}

void synthesize_one(EngineState& state, ThreadRow row, SynthesisWork work, Backend& backend,
                    kernels::ThreadPool& threads) {
  auto made = guard_all("synthesis", [&] { return make(work, backend, threads); });
  if (made && work.partition->job->cancelled.load(std::memory_order_relaxed)) {
    made = cancelled_error();  // frees what was made before the bytes are given back
  }
  work.key.reset();  // the same, should this be the last use of a key to be dropped
  state.change([&](Change& change) {
    wait_for_work(change, row);
    Partition& partition = *work.partition;
    if (made && !partition.job->failure) {
      queue_for_device(change, partition, std::move(*made));
    } else {
      const Error error = made ? cancelled_error() : made.error();
      if (made) change.dispose(std::move(*made));
      finish_partition(change, partition, {nullptr, error});
    }
  });
}

}  // namespace

void run_synthesis(EngineState& state, ThreadRow row, Backend& backend,
                   kernels::ThreadPool& threads) {
  while (auto work = take_granted(state, row)) {
    synthesize_one(state, row, std::move(*work), backend, threads);
  }
}

}  // namespace vitrine::engine
