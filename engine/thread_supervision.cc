// SPDX-License-Identifier: Apache-2.0
#include "engine/thread_supervision.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "engine/exception_guard.h"
#include "engine/job_lifecycle.h"

namespace vitrine::engine {
namespace {

constexpr auto kBeforeRestart = std::chrono::milliseconds(100);

// What came out of the body; nothing when it returned.
std::optional<Error> run_guarded(const std::string& name, const std::function<void()>& body) {
  const Result<void> done = guard_all(name, [&]() -> Result<void> {
    body();
    return {};
  });
  return done ? std::nullopt : std::optional(done.error());
}

// Of the job that the thread's row names; null when it has none in hand.
Partition* partition_in_hand(EngineModel& model, const ThreadState& thread) {
  if (thread.worker) return model.workers[*thread.worker].partition;
  Job* job = model.jobs.find(thread.job);
  if (job == nullptr || !thread.partition) return nullptr;
  Partition& partition = job->partitions[*thread.partition];
  const bool is_in_hand = partition.stage == shm::PartitionStage::kWitnessing ||
                          partition.stage == shm::PartitionStage::kSynthesizing;
  return is_in_hand ? &partition : nullptr;
}

}  // namespace

void count_restart(Change& change, ThreadRow row, const Error& error) {
  EngineModel& model = change.model();
  const ThreadState& thread = model.threads[row];
  JournalEntry entry;
  entry.level = JournalLevel::kError;
  entry.what = "thread restarted";
  entry.detail = thread.name + ": " + error.text;
  if (thread.worker) {
    Worker& worker = model.workers[*thread.worker];
    ++worker.restarts;
    entry.worker = worker.number;
    change.publish().worker_changed(worker, model);
  }
  change.note_error({failure_class_of(error.error_class), error.text, 0, {}, {}});
  change.log(std::move(entry));
}

void fail_work_in_hand(Change& change, ThreadRow row, const Error& error) {
  EngineModel& model = change.model();
  const ThreadState& thread = model.threads[row];
  if (thread.worker) {
    Worker& worker = model.workers[*thread.worker];
    if (Job* job = std::exchange(worker.assembling, nullptr)) fail_assembly(change, *job, error);
  }
  Partition* partition = partition_in_hand(model, thread);
  if (partition != nullptr) finish_partition(change, *partition, {nullptr, error});
}

void supervise(EngineState& state, ThreadRow row, const SupervisedBody& work) {
  const std::string name =
      state.look([row](EngineModel& model) { return model.threads[row].name; });
  while (const auto error = run_guarded(name, work.body)) {
    state.change([&](Change& change) {
      count_restart(change, row, *error);
      work.clean_up(change, *error);
      wait_for_work(change, row);
    });
    const auto deadline = std::chrono::steady_clock::now() + kBeforeRestart;
    (void)state.wait_until(deadline, [](const EngineModel& model) { return model.stopping; });
  }
}

}  // namespace vitrine::engine
