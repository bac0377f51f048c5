// SPDX-License-Identifier: Apache-2.0
#include "engine/worker.h"

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/device_choice.h"
#include "engine/exception_guard.h"
#include "engine/job_lifecycle.h"
#include "engine/proof_json.h"
#include "engine/result_assembly.h"
#include "shm/clock.h"

namespace vitrine::engine {
namespace {

using Ended = Result<std::shared_ptr<const ProofTexts>>;

// What the worker needs of the model while it computes; the job cannot go before its partition.
struct ProvingWork {
  Partition* partition;
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
        ProvingWork work{&partition, partition.job->circuit->key, worker.device->backend,
                         inputs_of(partition), nullptr};
        work.synthesized = pick_up(change, partition, worker);
        take_step(change, thread.row, "waiting for kernels", &partition);
        return work;
      });
}

enum class Turn { kBegins, kStopped, kPutBack };

// Waits for the device's kernels and takes them, unless the job was stopped meanwhile or the worker
// is needed for critical work.
Turn begin_kernels(EngineState& state, WorkerThread thread, ProvingWork& work) {
  Partition& partition = *work.partition;
  const Job& job = *partition.job;
  return state.change_when(
      [&](const EngineModel& model) {
        const Worker& worker = model.workers[thread.worker];
        return job.failure.has_value() || may_begin_kernels(model, worker, now()) ||
               is_overtaken(model, worker, now());
      },
      [&](Change& change) {
        EngineModel& model = change.model();
        const Worker& worker = model.workers[thread.worker];
        if (job.failure) return Turn::kStopped;
        if (is_overtaken(model, worker, change.now())) {
          put_back(change, partition, std::move(work.synthesized));
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
  state.change([&](Change& change) {
    return_constraint_bytes(change, *work.partition);
    take_step(change, thread.row, "finishing", work.partition);
  });
  return work.backend->prove_finish(*work.key, std::move(*started), context);
}

Ended prove(EngineState& state, ProvingWork& work, WorkerThread thread,
            kernels::ThreadPool& threads) {
  const StageContext context{threads, work.partition->job->cancelled};
  const PublicInputs inputs = public_inputs_of(work.synthesized->witness, work.key->shape);
  auto proof = run_kernels(state, work, thread, context);
  if (!proof) return proof.error();
  state.change([&](Change& change) {
    end_kernels(change, *work.partition);
    take_step(change, thread.row, "verifying", work.partition);
  });
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

// An exception came out of the stages: the worker starts over and says so.
void count_restart(Change& change, std::uint32_t number, const Error& error) {
  Worker& worker = change.model().workers[number];
  ++worker.restarts;
  JournalEntry entry;
  entry.level = JournalLevel::kError;
  entry.what = "worker restarted";
  entry.worker = number;
  entry.detail = error.text;
  change.note_error({shm::FailureClass::kInternal, error.text, 0, {}, {}});
  change.log(std::move(entry));
}

// All partitions are final, so their proofs may be read without the mutex.
void assemble_job(EngineState& state, Job& job) {
  std::vector<std::shared_ptr<const ProofTexts>> proofs;
  for (const Partition& partition : job.partitions) proofs.push_back(partition.proof);
  auto result = std::make_shared<const std::string>(assemble_result(proofs));
  state.change([&](Change& change) { finish_assembly(change, job, std::move(result)); });
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
    if (exceptions > 0) count_restart(change, thread.worker, ended.error());
    PartitionEnd end;
    if (ended) {
      end.proof = *ended;
    } else {
      end.error = ended.error();
    }
    wait_for_work(change, thread.row);
    return finish_partition(change, *work.partition, std::move(end));
  });
  if (to_assemble != nullptr) assemble_job(state, *to_assemble);
}

}  // namespace

void run_worker(EngineState& state, WorkerThread thread, kernels::ThreadPool& threads) {
  while (auto work = take_queued(state, thread)) {
    prove_one(state, std::move(*work), thread, threads);
  }
}

}  // namespace vitrine::engine
