// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <atomic>
#include <cassert>
#include <thread>

#include "engine/alarm.h"
#include "engine/backend_choice.h"
#include "engine/circuit_fault.h"
#include "engine/engine_start.h"
#include "engine/heartbeat.h"
#include "engine/job_lifecycle.h"
#include "engine/key_evictor.h"
#include "engine/key_loader.h"
#include "engine/last_words.h"
#include "engine/resident_keys.h"
#include "engine/status_records.h"
#include "engine/synthesis_stage.h"
#include "engine/worker.h"
#include "kernels/thread_pool.h"
#include "shm/clock.h"

namespace vitrine::engine {
namespace {

// How long stages that were told to stop may take to notice.
constexpr auto kStopPatience = std::chrono::seconds(10);

JobStatus status_of(const Job& job) {
  return {record_of(job), job.failure ? job.failure->text : std::string()};
}

Failure stopped_by_shutdown() {
  return {ErrorClass::kLost, "the engine stopped before the job was done", {}, {}, {}};
}

void stop_jobs(Change& change, bool (*concerns)(const Job&)) {
  const std::vector<Job*> active = change.model().jobs.active();
  for (Job* job : active) {
    if (concerns(*job)) stop_job(change, *job, stopped_by_shutdown());
  }
}

void tell_stopping(Change& change) {
  const std::size_t running = change.model().jobs.active().size();
  if (running == 0) return;
  const std::string jobs = std::to_string(running) + (running == 1 ? " job is" : " jobs are");
  const std::string why = change.model().hurried ? "asked again" : "the time to drain is over";
  change.log("stopping jobs", why + ": " + jobs + " not waited for", JournalLevel::kWarn);
}

void tell_without_room(Change& change, const std::vector<const Circuit*>& circuits) {
  for (const Circuit* circuit : circuits) {
    change.log("key does not fit beside the others", circuit->configuration.id,
               JournalLevel::kWarn);
  }
}

void show_closed(EngineState& state, int exit_code) {
  state.change([&](Change& change) {
    change.publish().stopped(static_cast<std::uint32_t>(exit_code));
    change.set_life(shm::EngineLife::kClosed, static_cast<std::uint32_t>(exit_code));
    change.log("closed");
  });
}

}  // namespace

struct Engine::Parts {
  EngineOptions options;
  std::unique_ptr<kernels::ThreadPool> pool;
  std::unique_ptr<EngineState> state;
  std::unique_ptr<LastWordsPlace> last_words;
  std::unique_ptr<Heartbeat> heartbeat;
  std::vector<std::thread> stages;
  std::atomic<JobId> last_id{0};
  std::string not_shared;
  bool is_closed = false;

  void start_threads();
};

void Engine::Parts::start_threads() {
  heartbeat = std::make_unique<Heartbeat>(*state);
  ThreadRow next_row = 0;  // in the order of make_model()
  const auto start = [&](auto body) {
    const ThreadRow row = next_row++;
    const std::string name =
        state->look([row](EngineModel& model) { return model.threads[row].name; });
    stages.emplace_back([name, row, body] {
      name_this_thread(name);
      body(row);
    });
  };
  Backend* backend = state->look([](EngineModel& model) { return model.devices[0].backend.get(); });
  for (std::uint32_t i = 0; i < options.configuration.key_loaders + kCriticalLoaders; ++i) {
    start([this](ThreadRow row) { run_key_loader(*state, row, options.key_reader, *pool); });
  }
  start([this](ThreadRow row) { run_key_evictor(*state, row); });
  start([this](ThreadRow row) { run_alarm(*state, row); });
  for (std::uint32_t i = 0; i < options.configuration.synthesis_concurrency; ++i) {
    start([this, backend](ThreadRow row) { run_synthesis(*state, row, *backend, *pool); });
  }
  for (std::uint32_t i = 0; i < options.configuration.workers_per_device; ++i) {
    start([this, i](ThreadRow row) { run_worker(*state, {i, row}, *pool); });
  }
}

Engine::Engine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Engine::Started Engine::start(EngineOptions options) {
  if (options.configuration.require_gpu) {
    return StartFailure{StartFailure::Kind::kNoGpu,
                        "a GPU is required: " + why_no_gpu(probe_gpu())};
  }
  const unsigned configured = options.configuration.threads;
  const unsigned threads = configured != 0 ? configured : usable_threads();
  auto model = make_model(options, threads);
  if (!model) return model.error();
  auto parts = std::make_unique<Parts>();
  parts->pool = std::make_unique<kernels::ThreadPool>(threads);
  // Last, when nothing else can refuse the start: it takes the place of the predecessor's.
  auto publication = publish_segment(options);
  if (!publication) return publication.error();
  parts->options = std::move(options);
  parts->not_shared = publication->not_shared;
  parts->last_id = first_job_id(shm::unix_ns());
  parts->state = std::make_unique<EngineState>(std::move(publication->writer), std::move(*model),
                                               parts->options.journal);
  parts->last_words = std::make_unique<LastWordsPlace>(parts->state->writer());
  parts->state->change([&](Change& change) {
    EngineModel& known = change.model();
    change.publish().started(known);
    change.publish().settings(parts->options.settings);
    if (known.backend_fallbacks > 0) change.publish().backend_fell_back();
    if (!publication->not_shared.empty()) change.degrade(publication->not_shared);
    tell_without_room(change, choose_resident_keys(known));
    for (Circuit& circuit : known.keys.circuits()) judge_circuit(change, circuit);
  });
  parts->start_threads();
  return std::unique_ptr<Engine>(new Engine(std::move(parts)));
}

Engine::~Engine() {
  if (parts_->is_closed) return;
  (void)drain(std::chrono::steady_clock::now());
  close(0);
}

void Engine::declare_ready() {
  parts_->state->change([](Change& change) {
    const std::string& reason = change.model().degraded.text();
    change.set_life(reason.empty() ? shm::EngineLife::kReady : shm::EngineLife::kDegraded);
    change.log(reason.empty() ? "ready" : "ready, degraded", reason,
               reason.empty() ? JournalLevel::kInfo : JournalLevel::kWarn);
  });
}

Submission Engine::submit(JobRequest request) {
  const JobId id = parts_->last_id.fetch_add(1) + 1;
  return parts_->state->change(
      [&](Change& change) { return receive_job(change, id, std::move(request)); });
}

std::optional<Refusal> Engine::refuse_in_advance(JobRequest request) {
  const bool is_expected = parts_->state->look(
      [&](EngineModel& model) { return expected_refusal(model, request.circuit).has_value(); });
  if (!is_expected) return std::nullopt;
  const JobId id = parts_->last_id.fetch_add(1) + 1;
  return parts_->state->change(
      [&](Change& change) { return engine::refuse_in_advance(change, id, request); });
}

std::optional<JobStatus> Engine::status(JobId id) {
  return wait(id, std::chrono::steady_clock::now());
}

std::optional<JobStatus> Engine::wait(JobId id, Deadline deadline) {
  std::optional<JobStatus> status;
  parts_->state->wait_until(deadline, [&](const EngineModel& model) {
    const Job* job = model.jobs.find(id);
    status = job ? std::optional(status_of(*job)) : std::nullopt;
    return !status || status->is_final();
  });
  return status;
}

std::vector<shm::PartitionRecord> Engine::partitions(JobId id) {
  return parts_->state->look([&](EngineModel& model) {
    std::vector<shm::PartitionRecord> records;
    const Job* job = model.jobs.find(id);
    if (job == nullptr) return records;
    for (const Partition& partition : job->partitions) records.push_back(record_of(partition));
    return records;
  });
}

std::shared_ptr<const ProofTexts> Engine::proof(JobId id, std::uint32_t partition) {
  return parts_->state->look([&](EngineModel& model) -> std::shared_ptr<const ProofTexts> {
    const Job* job = model.jobs.find(id);
    if (job == nullptr || partition >= job->partition_count()) return nullptr;
    return job->partitions[partition].proof;
  });
}

std::shared_ptr<const std::string> Engine::result(JobId id) {
  return parts_->state->look([&](EngineModel& model) -> std::shared_ptr<const std::string> {
    const Job* job = model.jobs.find(id);
    return job != nullptr && job->state == shm::JobState::kDone ? job->result : nullptr;
  });
}

CancelOutcome Engine::cancel(JobId id) {
  return parts_->state->change([&](Change& change) {
    Job* job = change.model().jobs.find(id);
    if (job == nullptr) return CancelOutcome::kUnknown;
    if (shm::is_final(job->state)) return CancelOutcome::kAlreadyFinal;
    stop_job(change, *job, {ErrorClass::kCancelled, "by a client", {}, {}, {}});
    return CancelOutcome::kStopping;
  });
}

std::vector<shm::JobRecord> Engine::jobs() {
  return parts_->state->look([](EngineModel& model) {
    std::vector<shm::JobRecord> records;
    for (const auto& [id, job] : model.jobs.all()) records.push_back(record_of(*job));
    return records;
  });
}

std::vector<shm::AllocationRecord> Engine::circuits() {
  return parts_->state->look([](EngineModel& model) {
    std::vector<shm::AllocationRecord> records;
    for (const Circuit& circuit : model.keys.circuits()) records.push_back(srs_record_of(circuit));
    return records;
  });
}

void Engine::set_pause(Pause pause) {
  parts_->state->change([&](Change& change) {
    EngineModel& model = change.model();
    model.paused = pause == Pause::kOn && !model.is_draining();
    for (const Worker& worker : model.workers) change.publish().worker_changed(worker, model);
    change.log(model.paused ? "paused" : "resumed");
  });
}

bool Engine::drain(Deadline deadline) {
  EngineState& state = *parts_->state;
  state.change([](Change& change) {
    change.model().paused = false;
    change.set_life(shm::EngineLife::kDraining);
    change.publish().draining();
    change.log("draining");
    stop_jobs(change, [](const Job& job) { return shm::is_waiting(job.state); });
  });
  state.wait_until(deadline, [](const EngineModel& model) {
    return model.hurried || model.jobs.active().empty();
  });
  state.change([](Change& change) {
    tell_stopping(change);
    stop_jobs(change, [](const Job&) { return true; });
  });
  return state.wait_until(std::chrono::steady_clock::now() + kStopPatience,
                          [](const EngineModel& model) { return model.jobs.active().empty(); });
}

void Engine::hurry() {
  parts_->state->change([](Change& change) { change.model().hurried = true; });
}

void Engine::close(int exit_code) {
  assert(!parts_->is_closed);
  EngineState& state = *parts_->state;
  state.change([](Change& change) { change.model().stopping = true; });
  for (std::thread& stage : parts_->stages) stage.join();
  parts_->heartbeat->stop();
  show_closed(state, exit_code);
  if (parts_->options.segment_end == EngineOptions::SegmentEnd::kRemove) {
    state.writer().unlink_name();
  }
  parts_->is_closed = true;
}

void Engine::close_unfinished(int exit_code) { show_closed(*parts_->state, exit_code); }

void Engine::note_signal(int signal) { parts_->state->writer().note_signal(signal); }

bool Engine::is_shared() const { return parts_->state->writer().is_shared(); }
const std::string& Engine::why_not_shared() const { return parts_->not_shared; }
const shm::SegmentWriter& Engine::segment() const { return parts_->state->writer(); }

}  // namespace vitrine::engine
