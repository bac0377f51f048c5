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
#include "engine/witness_generation.h"

namespace vitrine::engine {
namespace {

// What the thread needs of the model while it computes.
struct SynthesisWork {
  PartitionHold hold;
  std::shared_ptr<const ProvingKey> key;
  std::filesystem::path witness;
  std::string label;                  // of the witness, in errors
  std::optional<WitnessOrder> order;  // when the witness is to be made
};

WitnessOrder order_of(const Partition& partition, const SynthesisTools& tools) {
  const Circuit& circuit = *partition.job->circuit;
  return {circuit.configuration.witness_command,
          circuit.configuration.witness_timeout_ns,
          circuit.key->shape.variables,
          partition.witness.path,
          tools.input_bytes_max,
          witness_label(partition.number, partition.witness)};
}

// The stage that a thread begins with, and its step.
void begin_work(Change& change, ThreadRow row, Partition& partition) {
  if (partition.witness.kind == WitnessKind::kInput) {
    start_witnessing(change, partition);
    take_limited_step(change, row, "witnessing",
                      {&partition, partition.job->circuit->configuration.witness_timeout_ns});
  } else {
    start_synthesis(change, partition);
    take_step(change, row, "synthesizing", &partition);
  }
}

// The next to be synthesized; null when there is none that may begin.
Partition* next_granted(const EngineModel& model) {
  for (Partition* partition : model.granted) {
    if (!partition->job->awaits_store) return partition;
  }
  return nullptr;
}

std::optional<SynthesisWork> take_granted(EngineState& state, ThreadRow row,
                                          const SynthesisTools& tools) {
  return state.change_when(
      [](const EngineModel& model) { return model.stopping || next_granted(model) != nullptr; },
      [&](Change& change) -> std::optional<SynthesisWork> {
        if (change.model().stopping) return std::nullopt;
        Partition& partition = *next_granted(change.model());
        begin_work(change, row, partition);
        SynthesisWork work{PartitionHold(partition), partition.job->circuit->key,
                           partition.witness.path,
                           witness_label(partition.number, partition.witness), std::nullopt};
        if (partition.witness.kind == WitnessKind::kInput) work.order = order_of(partition, tools);
        return work;
      });
}

// The witness is there: the stage goes on to synthesis, unless the partition was stopped.
Result<MadeWitness> make_ordered(EngineState& state, ThreadRow row, SynthesisWork& work,
                                 const SynthesisTools& tools) {
  if (tools.spool == nullptr) {
    return Error{ErrorClass::kInternal, work.label + ": there is no spool to make a witness in"};
  }
  auto made = make_witness(*work.order, *tools.spool, work.hold.job->cancelled);
  if (!made) return made;
  work.witness = made->path;
  work.label += ": the witness made from it";
  const bool goes_on = state.change([&](Change& change) {
    if (!work.hold.is_current() || work.hold.job->failure) return false;
    start_synthesis(change, *work.hold.partition);
    take_step(change, row, "synthesizing", work.hold.partition);
    return true;
  });
  if (!goes_on) return cancelled_error();
  return made;
}

Result<std::unique_ptr<Synthesized>> synthesize(const SynthesisWork& work,
                                                const SynthesisTools& tools) {
  const StageContext context{tools.threads, work.hold.job->cancelled};
  auto witness = read_witness(work.witness, work.key->shape, work.label);
  if (!witness) return witness.error();
  if (context.cancelled.load(std::memory_order_relaxed)) return cancelled_error();
  auto values = tools.backend.synthesize(*work.key, *witness, context);
  if (!values) return values.error();
  return std::make_unique<Synthesized>(Synthesized{std::move(*witness), std::move(*values)});
}

// A witness that was made is gone when this is done.
Result<std::unique_ptr<Synthesized>> make(EngineState& state, ThreadRow row, SynthesisWork& work,
                                          const SynthesisTools& tools) {
  if (!work.order) return synthesize(work, tools);
  const auto made = make_ordered(state, row, work, tools);
  if (!made) return made.error();
  return synthesize(work, tools);
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

void synthesize_one(EngineState& state, ThreadRow row, SynthesisWork work,
                    const SynthesisTools& tools) {
  std::uint64_t exceptions = 0;
  Made made = guard_all("synthesis", exceptions, [&] { return make(state, row, work, tools); });
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

void run_synthesis(EngineState& state, ThreadRow row, const SynthesisTools& tools) {
  supervise(state, row,
            {[&] {
               while (auto work = take_granted(state, row, tools)) {
                 synthesize_one(state, row, std::move(*work), tools);
               }
             },
             [&](Change& change, const Error& error) { fail_work_in_hand(change, row, error); }});
}

}  // namespace vitrine::engine
