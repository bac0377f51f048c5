// SPDX-License-Identifier: Apache-2.0
#include "engine/synthesis_stage.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/exception_guard.h"
#include "engine/job_lifecycle.h"
#include "engine/partition_hold.h"
#include "engine/partition_retry.h"
#include "engine/thread_supervision.h"

namespace vitrine::engine {
namespace {

// What the thread needs of the model while it computes.
struct SynthesisWork {
  PartitionHold hold;
  std::shared_ptr<const ProvingKey> key;
  std::filesystem::path witness;
  std::string label;  // of the witness, in errors
};

// The next to be synthesized; null when there is none that may begin.
Partition* next_granted(const EngineModel& model) {
  for (Partition* partition : model.granted) {
    if (!partition->job->awaits_store) return partition;
  }
  return nullptr;
}

std::optional<SynthesisWork> take_granted(EngineState& state, ThreadRow row) {
  return state.change_when(
      [](const EngineModel& model) { return model.stopping || next_granted(model) != nullptr; },
      [row](Change& change) -> std::optional<SynthesisWork> {
        if (change.model().stopping) return std::nullopt;
        Partition& partition = *next_granted(change.model());
        start_synthesis(change, partition);
        take_step(change, row, "synthesizing", &partition);
        return SynthesisWork{PartitionHold(partition), partition.job->circuit->key,
                             partition.witness.path,
                             witness_label(partition.number, partition.witness)};
      });
}

Result<std::unique_ptr<Synthesized>> make(const SynthesisWork& work, Backend& backend,
                                          kernels::ThreadPool& threads) {
  const StageContext context{threads, work.hold.job->cancelled};
  auto witness = read_witness(work.witness, work.key->shape, work.label);
  if (!witness) return witness.error();
  if (context.cancelled.load(std::memory_order_relaxed)) return cancelled_error();
  auto values = backend.synthesize(*work.key, *witness, context);
  if (!values) return values.error();
  return std::make_unique<Synthesized>(Synthesized{std::move(*witness), std::move(*values)});
}

using Made = Result<std::unique_ptr<Synthesized>>;

void end_work(Change& change, const PartitionHold& hold, Made made) {
  Partition& partition = *hold.partition;
  if (!hold.is_current()) {
    ++change.model().stale_events;
    if (made) change.dispose(std::move(*made));
  } else if (made && !hold.job->failure) {
    queue_for_device(change, partition, std::move(*made));
    fail_unless_placeable(change, partition);
  } else {
    const Error error = made ? cancelled_error() : made.error();
    if (made) change.dispose(std::move(*made));
    finish_partition(change, partition, {nullptr, error});
  }
}

void synthesize_one(EngineState& state, ThreadRow row, SynthesisWork work, Backend& backend,
                    kernels::ThreadPool& threads) {
  std::uint64_t exceptions = 0;
  Made made = guard_all("synthesis", exceptions, [&] { return make(work, backend, threads); });
  if (made && work.hold.job->cancelled.load(std::memory_order_relaxed)) {
    made = cancelled_error();  // frees what was made before the bytes are given back
  }
  work.key.reset();  // the same, should this be the last use of a key to be dropped
  state.change([&](Change& change) {
    if (exceptions > 0) count_restart(change, row, made.error());
    end_work(change, work.hold, std::move(made));
    wait_for_work(change, row);
  });
}

}  // namespace

void run_synthesis(EngineState& state, ThreadRow row, Backend& backend,
                   kernels::ThreadPool& threads) {
  supervise(state, row,
            {[&] {
               while (auto work = take_granted(state, row)) {
                 synthesize_one(state, row, std::move(*work), backend, threads);
               }
             },
             [&](Change& change, const Error& error) { fail_work_in_hand(change, row, error); }});
}

}  // namespace vitrine::engine
