// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <thread>

#include "engine/alarm.h"
#include "engine/backend_choice.h"
#include "engine/circuit_fault.h"
#include "engine/configuration_check.h"
#include "engine/durable_jobs.h"
#include "engine/engine_start.h"
#include "engine/heartbeat.h"
#include "engine/job_lifecycle.h"
#include "engine/job_store.h"
#include "engine/key_evictor.h"
#include "engine/key_loader.h"
#include "engine/last_words.h"
#include "engine/resident_keys.h"
#include "engine/result_assembly.h"
#include "engine/status_records.h"
#include "engine/synthesis_stage.h"
#include "engine/worker.h"
#include "kernels/thread_pool.h"
#include "shm/clock.h"

namespace vitrine::engine {
namespace {

// How long stages that were told to stop may take to notice.
constexpr auto kStopPatience = std::chrono::seconds(10);

// How long a submit waits for a store that does not answer.
constexpr auto kStorePatience = std::chrono::seconds(30);

JobStatus status_of(const Job& job) {
  return {record_of(job), job.failure ? job.failure->text : std::string(), is_left(job)};
}

DeviceStatus status_of(const Device& device) {
  return {record_of(device), device.number, device.setup.memory_bytes, device.fault,
          device.takes_work()};
}

Failure stopped_by_shutdown() {
  return {ErrorClass::kLost, "the engine stopped before the job was done", {}, {}, {}};
}

// Ends a job with the engine, or leaves it for the next. One that is stopped already, ending or
// only to be assembled needs nothing.
void give_up(Change& change, Job& job) {
  if (!job.is_stored) return stop_job(change, job, stopped_by_shutdown());
  const bool ends_anyway = job.failure || job.is_ending || job.state == shm::JobState::kAssembling;
  if (!ends_anyway && !job.is_set_aside) set_aside(change, job);
}

void give_up_jobs(Change& change, bool (*concerns)(const Job&)) {
  const std::vector<Job*> active = change.model().jobs.active();
  for (Job* job : active) {
    if (concerns(*job)) give_up(change, *job);
  }
}

std::size_t jobs_at_work(const EngineModel& model) {
  const std::vector<Job*>& active = model.jobs.active();
  return static_cast<std::size_t>(
      std::count_if(active.begin(), active.end(), [](const Job* job) { return !is_left(*job); }));
}

// One that a lost device has not let go: its thread cannot be waited for.
bool has_stuck_worker(const EngineModel& model) {
  return std::ranges::any_of(model.workers,
                             [](const Worker& worker) { return worker.abandoned.has_value(); });
}

void tell_stopping(Change& change) {
  const std::size_t running = jobs_at_work(change.model());
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

void tell_missing_commands(Change& change, const std::vector<std::string>& complaints) {
  for (const std::string& complaint : complaints) {
    change.log("witnesses cannot be made", complaint, JournalLevel::kWarn);
  }
}

void tell_left(Change& change) {
  const std::size_t left = change.model().jobs.active().size() - jobs_at_work(change.model());
  if (left == 0) return;
  change.log("jobs left for the next start", std::to_string(left));
}

Refusal storage_refusal(const std::string& why) { return {RefusalReason::kStorage, why}; }

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
  // Loads keys and synthesizes; each device has its own, for its kernels.
  std::unique_ptr<kernels::ThreadPool> pool;
  std::vector<std::unique_ptr<kernels::ThreadPool>> device_pools;
  std::unique_ptr<EngineState> state;
  std::optional<EngineControl> control;
  std::unique_ptr<LastWordsPlace> last_words;
  std::unique_ptr<Heartbeat> heartbeat;
  std::vector<std::uint32_t> device_of_worker;
  std::vector<std::thread> stages;
  std::atomic<JobId> last_id{0};
  std::string not_shared;
  bool is_closed = false;

  void start_threads();
  Reception await_store(const Acceptance& acceptance);
};

void Engine::Parts::start_threads() {
  heartbeat = std::make_unique<Heartbeat>(*state);
  if (options.store != nullptr) {
    options.store->start([this](const StoreReport& report) {
      state->change([&](Change& change) { take_report(change, report); });
    });
  }
  if (options.spool != nullptr) {
    options.spool->listen([this] {
      state->change([this](Change& change) {
        change.turn_reason(change.model().spool_fault, options.spool->fault());
      });
    });
  }
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
  Backend* backend =
      state->look([](EngineModel& model) { return model.devices[0].setup.backend.get(); });
  for (std::uint32_t i = 0; i < options.configuration.key_loaders + kCriticalLoaders; ++i) {
    start([this](ThreadRow row) { run_key_loader(*state, row, options.key_reader, *pool); });
  }
  start([this](ThreadRow row) { run_key_evictor(*state, row); });
  start([this](ThreadRow row) { run_alarm(*state, row); });
  for (std::uint32_t i = 0; i < options.configuration.synthesis_concurrency; ++i) {
    start([this, backend](ThreadRow row) {
      run_synthesis(*state, row,
                    {*backend, *pool, options.spool, options.configuration.upload_limit_bytes});
    });
  }
  for (std::uint32_t i = 0; i < device_of_worker.size(); ++i) {
    kernels::ThreadPool& device_pool = *device_pools[device_of_worker[i]];
    start([this, i, &device_pool](ThreadRow row) { run_worker(*state, {i, row}, device_pool); });
  }
}

Engine::Engine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Engine::Started Engine::start(EngineOptions options) {
  if (options.configuration.require_gpu) {
    return StartFailure{StartFailure::Kind::kNoGpu,
                        "a GPU is required: " + why_no_gpu(probe_gpu())};
  }
  const unsigned threads = kernel_threads(options.configuration);
  auto model = make_model(options, threads);
  if (!model) return model.error();
  auto parts = std::make_unique<Parts>();
  JobId highest_stored_id = 0;
  if (options.store != nullptr) {
    const auto highest = know_store(**model, *options.store);
    if (!highest) return StartFailure{StartFailure::Kind::kRuntime, highest.error().text};
    highest_stored_id = *highest;
  }
  parts->pool = std::make_unique<kernels::ThreadPool>(threads);
  for (const Device& device : (*model)->devices) {
    parts->device_pools.push_back(std::make_unique<kernels::ThreadPool>(device.setup.threads));
  }
  for (const Worker& worker : (*model)->workers) {
    parts->device_of_worker.push_back(worker.device->number);
  }
  // Last, when nothing else can refuse the start: it takes the place of the predecessor's.
  auto publication = publish_segment(options);
  if (!publication) return publication.error();
  parts->options = std::move(options);
  parts->not_shared = publication->not_shared;
  parts->last_id = std::max(first_job_id(shm::unix_ns()), highest_stored_id);
  parts->state = std::make_unique<EngineState>(std::move(publication->writer), std::move(*model),
                                               parts->options.journal);
  parts->control.emplace(*parts->state);
  parts->last_words = std::make_unique<LastWordsPlace>(parts->state->writer());
  std::vector<ResumedJob> resumed = std::move(parts->options.resumed);
  const auto missing_commands = command_complaints(parts->options.configuration);
  parts->state->change([&](Change& change) {
    EngineModel& known = change.model();
    change.publish().started(known);
    change.publish().settings(parts->options.settings);
    if (known.backend_fallbacks > 0) change.publish().backend_fell_back();
    if (!publication->not_shared.empty()) change.degrade(publication->not_shared);
    tell_without_room(change, choose_resident_keys(known));
    tell_missing_commands(change, missing_commands);
    for (Circuit& circuit : known.keys.circuits()) judge_circuit(change, circuit);
    for (ResumedJob& job : resumed) resume_job(change, std::move(job));
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
  const Reception received = receive(std::move(request));
  return received ? Submission(received->job) : received.error();
}

Reception Engine::receive(JobRequest request) {
  EngineState& state = *parts_->state;
  const auto known = state.look([&](EngineModel& model) { return known_request(model, request); });
  const bool is_to_sync = !known && parts_->options.store != nullptr;
  const JobId id = parts_->last_id.fetch_add(1) + 1;
  if (const auto synced = is_to_sync ? make_durable(request.witnesses) : Result<void>(); !synced) {
    const Refusal refusal = storage_refusal(synced.error().text);
    state.change([&](Change& change) { refuse(change, id, request, refusal); });
    return refusal;
  }
  const Reception received =
      state.change([&](Change& change) { return receive_job(change, id, request); });
  if (!received || !received->store_answer) return received;
  return parts_->await_store(*received);
}

// A store that does not answer has not refused: the job must not be done behind the client's back.
Reception Engine::Parts::await_store(const Acceptance& acceptance) {
  const StoreAnswer& answer = *acceptance.store_answer;
  const bool is_settled = state->wait_until(std::chrono::steady_clock::now() + kStorePatience,
                                            [&](const EngineModel&) { return answer.is_settled; });
  if (is_settled && answer.refusal.empty()) return acceptance;
  if (is_settled) return storage_refusal(answer.refusal);
  const std::string why = "the job store: no answer within 30 s";
  state->change([&](Change& change) {
    Job* job = change.model().jobs.find(acceptance.job);
    if (job != nullptr) stop_job(change, *job, {ErrorClass::kTimeout, why, {}, {}, {}});
  });
  return storage_refusal(why);
}

std::optional<Refusal> Engine::refuse_in_advance(JobRequest request) {
  const bool is_expected = parts_->state->look(
      [&](EngineModel& model) { return expected_refusal(model, request).has_value(); });
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
    return !status || status->is_final() || model.is_over;
  });
  return status;
}

Result<std::optional<JobStatus>> Engine::past_job(JobId id) {
  if (parts_->options.store == nullptr) return std::optional<JobStatus>();
  auto job = parts_->options.store->finished(id);
  if (!job) return job.error();
  if (!*job) return std::optional<JobStatus>();
  return std::optional(JobStatus{(*job)->record, (*job)->failure});
}

Result<std::shared_ptr<const std::string>> Engine::past_result(JobId id) {
  std::shared_ptr<const std::string> none;
  if (parts_->options.store == nullptr) return none;
  const auto proofs = parts_->options.store->proofs(id, std::nullopt);
  if (!proofs) return proofs.error();
  if (proofs->empty()) return none;
  return std::make_shared<const std::string>(assemble_result(*proofs));
}

Result<std::shared_ptr<const ProofTexts>> Engine::past_proof(JobId id, std::uint32_t partition) {
  std::shared_ptr<const ProofTexts> none;
  if (parts_->options.store == nullptr) return none;
  const auto proofs = parts_->options.store->proofs(id, partition);
  if (!proofs) return proofs.error();
  return proofs->empty() ? none : proofs->front();
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
    const bool is_stopping = job->failure && !shm::is_final(job->state);
    if (is_stopping && job->failure->error_class == ErrorClass::kCancelled) {
      return CancelOutcome::kStopping;
    }
    if (shm::is_final(job->state) || job->is_ending) return CancelOutcome::kTooLate;
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

std::vector<DeviceStatus> Engine::devices() {
  return parts_->state->look([](EngineModel& model) {
    std::vector<DeviceStatus> devices;
    for (const Device& device : model.devices) devices.push_back(status_of(device));
    return devices;
  });
}

DeviceRelease Engine::release_device(std::uint32_t number) {
  return parts_->state->change(
      [&](Change& change) { return engine::release_device(change, number); });
}

EngineControl& Engine::control() { return *parts_->control; }

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
  const auto is_idle = [](const EngineModel& model) { return jobs_at_work(model) == 0; };
  state.change([](Change& change) {
    change.model().paused = false;
    change.set_life(shm::EngineLife::kDraining);
    change.publish().draining();
    change.log("draining");
    give_up_jobs(change, [](const Job& job) { return shm::is_waiting(job.state); });
  });
  state.wait_until(deadline,
                   [&](const EngineModel& model) { return model.hurried || is_idle(model); });
  state.change([](Change& change) {
    tell_stopping(change);
    give_up_jobs(change, [](const Job&) { return true; });
  });
  const bool is_drained =
      state.wait_until(std::chrono::steady_clock::now() + kStopPatience, is_idle) &&
      !state.look([](EngineModel& model) { return has_stuck_worker(model); });
  state.change([](Change& change) {
    change.model().is_over = true;
    tell_left(change);
  });
  return is_drained;
}

void Engine::hurry() {
  parts_->state->change([](Change& change) { change.model().hurried = true; });
}

void Engine::close(int exit_code) {
  assert(!parts_->is_closed);
  EngineState& state = *parts_->state;
  state.change([](Change& change) { change.model().stopping = true; });
  for (std::thread& stage : parts_->stages) stage.join();
  if (parts_->options.spool != nullptr) parts_->options.spool->listen({});
  if (parts_->options.store != nullptr) parts_->options.store->stop();
  parts_->heartbeat->stop();
  show_closed(state, exit_code);
  if (parts_->options.segment_end == EngineOptions::SegmentEnd::kRemove) {
    state.writer().unlink_name();
  }
  parts_->is_closed = true;
}

void Engine::close_unfinished(int exit_code) { show_closed(*parts_->state, exit_code); }

std::optional<JobCounts> Engine::job_counts() {
  return parts_->state->try_look([](EngineModel& model) {
    JobCounts counts{.waiting = model.waiting_jobs(),
                     .is_paused = model.paused,
                     .degraded = model.degraded.brief()};
    for (const auto& tally : model.tallies) {
      const auto in = [&](shm::JobState state) { return tally->jobs[std::size_t(state)]; };
      counts.running += in(shm::JobState::kRunning) + in(shm::JobState::kAssembling);
      counts.done += in(shm::JobState::kDone);
      counts.failed += in(shm::JobState::kFailed);
    }
    return counts;
  });
}

std::uint64_t Engine::beats() const { return parts_->heartbeat->beats(); }

void Engine::note_signal(int signal) { parts_->state->writer().note_signal(signal); }

bool Engine::is_shared() const { return parts_->state->writer().is_shared(); }
const std::string& Engine::why_not_shared() const { return parts_->not_shared; }
const shm::SegmentWriter& Engine::segment() const { return parts_->state->writer(); }

}  // namespace vitrine::engine
