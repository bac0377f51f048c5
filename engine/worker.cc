// SPDX-License-Identifier: Apache-2.0
#include "engine/worker.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/device_choice.h"
#include "engine/device_health.h"
#include "engine/exception_guard.h"
#include "engine/job_lifecycle.h"
#include "engine/partition_hold.h"
#include "engine/partition_retry.h"
#include "engine/proof_json.h"
#include "engine/result_assembly.h"
#include "engine/thread_supervision.h"
#include "shm/clock.h"

namespace vitrine::engine {
namespace {

using Ended = Result<std::shared_ptr<const ProofTexts>>;

// What the worker needs of the model while it computes.
struct ProvingWork {
  PartitionHold hold;
  std::shared_ptr<const ProvingKey> key;
  std::shared_ptr<Backend> backend;
  std::string inputs;  // what the proof is made from, in errors
  std::unique_ptr<Synthesized> synthesized;
};

std::string inputs_of(const Partition& partition) {
  return witness_label(partition.number, partition.witness) + ", key " +
         partition.job->circuit->configuration.zkey.string();
}

shm::Instant now() { return {shm::monotonic_ns()}; }

std::optional<ProvingWork> take_queued(EngineState& state, WorkerThread thread) {
  return state.change_when(
      [&](const EngineModel& model) {
        return model.stopping ||
               next_for_device(model, model.workers[thread.worker], now()) != nullptr;
      },
      [&](Change& change) -> std::optional<ProvingWork> {
        EngineModel& model = change.model();
        if (model.stopping) return std::nullopt;
        Worker& worker = model.workers[thread.worker];
        Partition& partition = *next_for_device(model, worker, change.now());
        ProvingWork work{PartitionHold(partition), partition.job->circuit->key,
                         worker.device->setup.backend, inputs_of(partition), nullptr};
        work.synthesized = pick_up(change, partition, worker);
        take_step(change, thread.row, "waiting for kernels", &partition);
        return work;
      });
}

enum class Turn { kBegins, kStopped, kPutBack };

// Empty when the worker may wait on for its device's kernels.
std::string_view why_put_back(const EngineModel& model, const Worker& worker, shm::Instant now) {
  if (!worker.device->takes_work()) return "put back: the device takes no work";
  return is_overtaken(model, worker, now) ? "put back for critical work" : "";
}

// Waits for the device's kernels and takes them, unless the job was stopped meanwhile, the device
// was given up, or the worker is needed for critical work.
Turn begin_kernels(EngineState& state, WorkerThread thread, ProvingWork& work) {
  Partition& partition = *work.hold.partition;
  const Job& job = *work.hold.job;
  return state.change_when(
      [&](const EngineModel& model) {
        const Worker& worker = model.workers[thread.worker];
        return job.failure.has_value() || may_begin_kernels(model, worker, now()) ||
               !why_put_back(model, worker, now()).empty();
      },
      [&](Change& change) {
        EngineModel& model = change.model();
        const Worker& worker = model.workers[thread.worker];
        if (job.failure) return Turn::kStopped;
        if (const auto why = why_put_back(model, worker, change.now()); !why.empty()) {
          put_back(change, partition, std::move(work.synthesized), why);
          fail_unless_placeable(change, partition);
          wait_for_work(change, thread.row);
          return Turn::kPutBack;
        }
        start_kernels(change, partition);
        take_step(change, thread.row, "proving", &partition);
        return Turn::kBegins;
      });
}

// Both proving steps, while the device is this partition's alone.
Result<Proof> run_kernels(EngineState& state, ProvingWork& work, WorkerThread thread,
                          const StageContext& context) {
  auto started = work.backend->prove_start(*work.key, std::move(work.synthesized->witness),
                                           std::move(work.synthesized->values), context);
  work.synthesized.reset();
  if (!started) return started.error();
  const bool goes_on = state.change([&](Change& change) {
    if (!work.hold.is_current()) return false;
    return_constraint_bytes(change, *work.hold.partition);
    take_step(change, thread.row, "finishing", work.hold.partition);
    return true;
  });
  if (!goes_on) return cancelled_error();
  return work.backend->prove_finish(*work.key, std::move(*started), context);
}

Ended prove(EngineState& state, ProvingWork& work, WorkerThread thread,
            kernels::ThreadPool& threads) {
  const StageContext context{threads, work.hold.job->cancelled};
  const PublicInputs inputs = public_inputs_of(work.synthesized->witness, work.key->shape);
  auto proof = run_kernels(state, work, thread, context);
  if (!proof) return proof.error();
  const bool goes_on = state.change([&](Change& change) {
    if (!work.hold.is_current()) return false;
    end_kernels(change, *work.hold.partition);
    take_step(change, thread.row, "verifying", work.hold.partition);
    return true;
  });
  if (!goes_on) return cancelled_error();
  auto verified = work.backend->verify(work.key->verifying_key, *proof, inputs);
  if (!verified) {
    return Error{ErrorClass::kVerifyFailed,
                 work.inputs +
                     ": the proof made does not verify: the witness does not satisfy the "
                     "circuit, or the key is damaged (" +
                     verified.error().text + ")"};
  }
  if (context.cancelled.load(std::memory_order_relaxed)) return cancelled_error();
  return std::make_shared<const ProofTexts>(
      ProofTexts{proof_to_json(*proof), public_to_json(inputs)});
}

// All partitions are final, so their proofs may be read without the mutex.
void assemble_job(EngineState& state, WorkerThread thread, Job& job) {
  std::vector<std::shared_ptr<const ProofTexts>> proofs;
  for (const Partition& partition : job.partitions) proofs.push_back(partition.proof);
  auto result = std::make_shared<const std::string>(assemble_result(proofs));
  state.change([&](Change& change) {
    change.model().workers[thread.worker].assembling = nullptr;
    finish_assembly(change, job, std::move(result));
  });
}

PartitionEnd end_of(const Ended& ended) {
  if (ended) return {*ended, {}};
  return {nullptr, ended.error()};
}

// The job when its result is to be assembled now. An answer that comes too late changes nothing.
Job* end_work(Change& change, WorkerThread thread, const PartitionHold& hold, const Ended& ended) {
  Worker& worker = change.model().workers[thread.worker];
  if (hold.is_current()) {
    worker.assembling = end_attempt(change, *hold.partition, end_of(ended));
  } else {
    take_late_answer(change, worker);
  }
  wait_for_work(change, thread.row);
  return worker.assembling;
}

void prove_one(EngineState& state, ProvingWork work, WorkerThread thread,
               kernels::ThreadPool& threads) {
  const Turn turn = begin_kernels(state, thread, work);
  if (turn == Turn::kPutBack) return;
  std::uint64_t exceptions = 0;
  Ended ended = cancelled_error();
  if (turn == Turn::kBegins) {
    ended = guard_all("proving", exceptions, [&] { return prove(state, work, thread, threads); });
  }
  work.synthesized.reset();  // freed before the bytes are given back
  work.key.reset();          // the same, should this be the last use of a key to be dropped
  Job* to_assemble = state.change([&](Change& change) {
    if (exceptions > 0) count_restart(change, thread.row, ended.error());
    return end_work(change, thread, work.hold, ended);
  });
  if (to_assemble != nullptr) assemble_job(state, thread, *to_assemble);
}

}  // namespace

void run_worker(EngineState& state, WorkerThread thread, kernels::ThreadPool& threads) {
  supervise(
      state, thread.row,
      {[&] {
         while (auto work = take_queued(state, thread)) {
           prove_one(state, std::move(*work), thread, threads);
         }
       },
       [&](Change& change, const Error& error) { fail_work_in_hand(change, thread.row, error); }});
}

}  // namespace vitrine::engine
