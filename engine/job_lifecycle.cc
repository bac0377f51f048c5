// SPDX-License-Identifier: Apache-2.0
#include "engine/job_lifecycle.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/circuit_fault.h"
#include "engine/deadlines.h"
#include "engine/durable_jobs.h"
#include "engine/expected_ends.h"
#include "engine/job_resumption.h"
#include "engine/partition_release.h"

namespace vitrine::engine {
namespace {

using shm::JobState;
using shm::PartitionStage;
using shm::WaitReason;

// Why no job of the circuit can be taken, whatever its size.
std::optional<Refusal> circuit_refusal(const EngineModel& model, const Circuit& circuit) {
  if (model.is_draining()) {
    return Refusal{RefusalReason::kDraining, "the engine is draining and takes no new jobs"};
  }
  if (auto refusal = lasting_refusal(model, circuit)) return refusal;
  if (model.waiting_jobs() >= model.facts.job_queue_capacity) {
    return Refusal{RefusalReason::kQueueFull,
                   "the job queue is full: " + std::to_string(model.facts.job_queue_capacity) +
                       " jobs are waiting"};
  }
  return std::nullopt;
}

std::optional<Refusal> job_refusal(const EngineModel& model, const Circuit& circuit,
                                   const JobRequest& request) {
  if (auto refusal = input_refusal(circuit, request.witnesses)) return refusal;
  if (auto refusal = circuit_refusal(model, circuit)) return refusal;
  if (!model.jobs.has_room(static_cast<std::uint32_t>(request.witnesses.size()))) {
    return Refusal{RefusalReason::kStatusCapacity, "status capacity: no rows are free for " +
                                                       std::to_string(request.witnesses.size()) +
                                                       " partitions"};
  }
  return std::nullopt;
}

Refusal unknown_circuit(std::string_view circuit) {
  return {RefusalReason::kUnknownCircuit, "no circuit '" + std::string(circuit) + "'"};
}

void fill_job(Job& job, Circuit& circuit, EngineModel& model, JobRequest& request) {
  job.circuit = circuit.shared_from_this();
  job.tally = model.tallies[circuit.kind_row].get();
  job.priority = request.priority.value_or(circuit.configuration.priority);
  job.request = std::move(request.request_id);
  job.at_deadline = request.at_deadline;
}

// A refused job is counted; it is shown when a row is free, but takes none from a finished job.
void count_refusal(Change& change, JobId id, Circuit& circuit, JobRequest& request,
                   const Refusal& refusal) {
  EngineModel& model = change.model();
  const auto partitions = static_cast<std::uint32_t>(request.witnesses.size());
  Job unseen;
  if (refusal.reason == RefusalReason::kImpossible) ++model.refused_impossible;
  if (refusal.reason == RefusalReason::kStatusCapacity) ++model.refused_for_capacity;
  if (refusal.reason == RefusalReason::kQueueFull) ++model.refused_queue_full;
  const bool is_shown = model.jobs.has_free_row();
  Job& job = is_shown ? model.jobs.add(id, 0) : unseen;
  job.id = id;
  fill_job(job, circuit, model, request);
  job.submitted = job.finished = change.now();
  // Of the classes of failures only that of memory is true of a job that nobody looked at.
  const bool is_impossible = refusal.reason == RefusalReason::kImpossible;
  job.failure = Failure{is_impossible ? ErrorClass::kOutOfMemory : ErrorClass::kRefused,
                        refusal.text,
                        PartitionStage::kUnknown,
                        {},
                        {}};
  set_state(job, JobState::kRefused);
  change.log(job, "job refused", refusal.text, JournalLevel::kWarn);
  change.note_error({failure_class_of(job.failure->error_class), refusal.text, id, {}, {}});
  if (!is_shown) return change.publish().job_refused(id, partitions);
  change.publish().job_refused(job, partitions);
  model.jobs.retire(job);
}

// A hit is a key that was there, or on its way for somebody else.
void count_key_hit(Job& job) {
  if (job.asked_for_key) return;
  job.circuit->srs.count_hit();
  job.circuit->pce.count_hit();
}

void make_room(Change& change, std::uint32_t partitions) {
  EngineModel& model = change.model();
  while (std::shared_ptr<Job> oldest = model.jobs.take_oldest_finished(partitions)) {
    model.recycled_rows += 1 + oldest->partition_count();
    change.publish().job_recycled(*oldest);
    if (model.store == nullptr) model.requests.forget(oldest->request, oldest->id);
    change.dispose(std::move(oldest));
  }
}

AttemptEnd attempt_end_of(PartitionStage stage) {
  if (stage == PartitionStage::kDone) return AttemptEnd::kProof;
  return stage == PartitionStage::kFailed ? AttemptEnd::kFailure : AttemptEnd::kStopped;
}

void drop_witness(Change& change, Partition& partition) {
  if (partition.witness.path.empty()) return;
  end_as(partition.witness, WitnessCopy::End::kRemoved);
  change.dispose(std::exchange(partition.witness, {}));
}

// The one terminal transition of a partition: gives back everything it holds.
void close_partition(Change& change, Partition& partition, PartitionStage stage) {
  EngineModel& model = change.model();
  leave_lines(model, partition);
  set_stage(partition, stage, model.stages, change.now());
  partition.finished = change.now();
  if (stage == PartitionStage::kDone) partition.job->circuit->pace.learn(pace_of(partition));
  partition.wait.end();
  partition.reserved.give_back_all();
  partition.key_use.end(change.now());
  release_worker(change, partition, attempt_end_of(stage));
  if (!partition.job->is_stored) drop_witness(change, partition);
  if (partition.synthesized) change.dispose(std::move(partition.synthesized));
  change.publish().partition_finished(partition);
}

JobState final_state_of(const Job& job) {
  if (!job.failure) return JobState::kDone;
  switch (job.failure->error_class) {
    case ErrorClass::kCancelled:
      return JobState::kCancelled;
    case ErrorClass::kLost:
      return JobState::kLost;
    case ErrorClass::kRefused:
      return JobState::kRefused;
    default:
      return JobState::kFailed;
  }
}

// All partitions are final: the job is, as soon as the store knows.
void end_job(Change& change, Job& job) {
  if (!job.is_stored) return finish_job(change, job);
  put_end(change, job, final_state_of(job));
}

// After a partition ended: the job when its result is to be assembled now.
Job* settle_job(Change& change, Job& job) {
  const bool has_more = job.state == JobState::kAssembling || job.is_ending;
  if (!job.all_partitions_final() || has_more) return nullptr;
  if (job.failure) {
    const bool goes_on = job.is_set_aside && job.failure->error_class == ErrorClass::kLost;
    goes_on ? queue_again(change, job) : end_job(change, job);
    return nullptr;
  }
  set_state(job, JobState::kAssembling);
  change.publish().job_assembling(job);
  return &job;
}

// Whether there is a job that the request asks for once more, however it ends; one that ended
// without a result is none.
bool stands_for_a_job(const EngineModel& model, const JobRequest& request) {
  const StoredRequest* known = model.requests.find(request.request_id);
  return known != nullptr && (!shm::is_final(known->state) || known->state == JobState::kDone);
}

// An instant of before the boot is shown as that of the boot.
shm::Instant since_boot(shm::Instant instant) {
  return static_cast<std::int64_t>(instant.ns) < 0 ? shm::Instant{1} : instant;
}

// The stages of a synthesis thread; to readers of times and events they are one.
void enter_cpu_stage(Change& change, Partition& partition, PartitionStage stage) {
  leave_lines(change.model(), partition);
  set_stage(partition, stage, change.model().stages, change.now());
  partition.wait.end();
  if (!partition.job->started.is_set()) partition.job->started = change.now();
  if (partition.synth_start.is_set()) return change.publish().stage_changed(partition);
  partition.synth_start = change.now();
  change.publish().synthesis_started(partition);
}

// The rows of a new job and of its partitions.
void show_received(Change& change, Job& job, std::vector<WitnessFile>& witnesses) {
  EngineModel& model = change.model();
  set_state(job, JobState::kReceived);
  for (Partition& partition : job.partitions) {
    partition.created = change.now();
    partition.witness = std::move(witnesses[partition.number]);
    set_stage(partition, PartitionStage::kPending, model.stages, change.now());
    partition.wait.turn_to({WaitReason::kCpu, change.now(), 0, 0});
  }
  job.wait.turn_to({WaitReason::kCpu, change.now(), 0, 0});
  model.requests.begin({job.request, job.circuit->configuration.id, job.id, job.attempt,
                        job.partition_count(), job.state});
  change.publish().job_received(job);
}

}  // namespace

std::optional<Reception> known_request(const EngineModel& model, const JobRequest& request) {
  const StoredRequest* known = model.requests.find(request.request_id);
  if (known == nullptr) return std::nullopt;
  if (known->circuit != request.circuit || known->partitions != request.witnesses.size()) {
    return Refusal{RefusalReason::kConflict,
                   "request_id is that of job " + std::to_string(known->job) + " of circuit " +
                       known->circuit + " with " + std::to_string(known->partitions) +
                       (known->partitions == 1 ? " partition" : " partitions")};
  }
  if (!stands_for_a_job(model, request)) return std::nullopt;
  Acceptance acceptance{known->job, Acceptance::Novelty::kKnown, nullptr};
  if (const Job* job = model.jobs.find(known->job)) acceptance.store_answer = job->store_answer;
  return acceptance;
}

Reception receive_job(Change& change, JobId id, JobRequest& request) {
  EngineModel& model = change.model();
  Circuit* circuit = model.keys.find(request.circuit);
  if (circuit == nullptr) {
    // Its circuit may be gone, but the job is there.
    if (auto known = known_request(model, request)) return *known;
    return unknown_circuit(request.circuit);
  }
  if (request.witnesses.empty() || request.witnesses.size() > kPartitionsMax) {
    return Refusal{RefusalReason::kBadRequest, "a job has 1 to " + std::to_string(kPartitionsMax) +
                                                   " witnesses or inputs, not " +
                                                   std::to_string(request.witnesses.size())};
  }
  if (auto known = known_request(model, request)) return *known;
  if (auto refusal = job_refusal(model, *circuit, request)) {
    count_refusal(change, id, *circuit, request, *refusal);
    return *refusal;
  }
  const auto partitions = static_cast<std::uint32_t>(request.witnesses.size());
  make_room(change, partitions);
  Job& job = model.jobs.add(id, partitions);
  fill_job(job, *circuit, model, request);
  if (const auto* before = model.requests.find(job.request)) job.attempt = before->attempt + 1;
  job.submitted = job.waiting_since = change.now();
  if (request.deadline_ns) job.deadline = {change.now().ns + *request.deadline_ns};
  show_received(change, job, request.witnesses);
  if (model.store == nullptr) {
    queue_job(change, job);
  } else {
    put_job(change, job);
  }
  return Acceptance{id, Acceptance::Novelty::kNew, job.store_answer};
}

Job& add_resumed_job(Change& change, Circuit& circuit, ResumedJob& resumed) {
  EngineModel& model = change.model();
  const shm::JobRecord& record = resumed.job.record;
  make_room(change, record.partitions);
  Job& job = model.jobs.add(record.job.value, record.partitions);
  JobRequest request;
  request.priority = record.priority;
  request.request_id = std::string(record.request.view());
  request.at_deadline = resumed.job.at_deadline;
  fill_job(job, circuit, model, request);
  job.attempt = record.attempt;
  job.submitted = since_boot(record.submitted);
  job.waiting_since = change.now();
  job.deadline = since_boot(record.deadline);
  job.is_stored = true;
  resumed.witnesses.resize(record.partitions);
  show_received(change, job, resumed.witnesses);
  return job;
}

void queue_job(Change& change, Job& job) {
  set_state(job, JobState::kQueued);
  change.publish().job_queued(job);
  const bool is_first = job.attempt == 1;
  const std::string attempt = is_first ? "" : ", attempt " + std::to_string(job.attempt);
  change.log(job, "job queued",
             "circuit " + job.circuit->configuration.id + ", " +
                 std::to_string(job.partition_count()) + " partitions" + attempt);
}

void refuse_received_job(Change& change, Job& job, const std::string& why) {
  job.is_stored = false;
  change.note_error({shm::FailureClass::kNone, why, job.id, {}, {}});
  stop_job(change, job, {ErrorClass::kRefused, why, {}, {}, {}});
}

void refuse(Change& change, JobId id, JobRequest& request, const Refusal& refusal) {
  Circuit* circuit = change.model().keys.find(request.circuit);
  if (circuit != nullptr) count_refusal(change, id, *circuit, request, refusal);
}

void finish_job(Change& change, Job& job) {
  assert(job.all_partitions_final());
  EngineModel& model = change.model();
  set_state(job, final_state_of(job));
  job.finished = change.now();
  job.wait.end();
  judge_deadline(change, job);
  for (Partition& partition : job.partitions) drop_witness(change, partition);
  if (job.state == JobState::kRefused) {
    model.requests.take_back(job.request, job.id);
  } else {
    model.requests.end(job.request, job.id, job.state);
  }
  model.jobs.retire(job);
  change.publish().job_finished(job);
  const bool is_done = job.state == JobState::kDone;
  if (is_done) return change.log(job, "job done");
  const std::string error_class(error_class_name(job.failure->error_class));
  change.log(job, "job ended", error_class + ": " + job.failure->text, JournalLevel::kWarn);
}

std::optional<Refusal> expected_refusal(const EngineModel& model, const JobRequest& request) {
  if (stands_for_a_job(model, request)) return std::nullopt;
  const Circuit* circuit = model.keys.find(request.circuit);
  return circuit == nullptr ? unknown_circuit(request.circuit) : circuit_refusal(model, *circuit);
}

std::optional<Refusal> refuse_in_advance(Change& change, JobId id, JobRequest& request) {
  Circuit* circuit = change.model().keys.find(request.circuit);
  if (circuit == nullptr) return unknown_circuit(request.circuit);
  if (stands_for_a_job(change.model(), request)) return std::nullopt;
  auto refusal = circuit_refusal(change.model(), *circuit);
  if (refusal) count_refusal(change, id, *circuit, request, *refusal);
  return refusal;
}

void grant_partition(Change& change, Partition& partition, Reservation reserved) {
  Job& job = *partition.job;
  assert(partition.number == job.to_start());
  job.take_to_start();
  partition.reserved = std::move(reserved);
  partition.key_use = KeyUse(*job.circuit, change.now());
  job.waiting_since = change.now();
  partition.wait.turn_to({WaitReason::kCpu, change.now(), 0, 0});
  change.model().granted.push_back(&partition);
  change.publish().partition_granted(partition);
  if (job.state == JobState::kRunning) return;
  set_state(job, JobState::kRunning);
  count_key_hit(job);
  put_run(change, job);
  job.admitted = change.now();
  job.wait.end();
  change.publish().job_admitted(job);
  change.log(job, "job running");
}

void start_witnessing(Change& change, Partition& partition) {
  enter_cpu_stage(change, partition, PartitionStage::kWitnessing);
  change.log(partition, "witness generation started", {}, JournalLevel::kDebug);
}

void start_synthesis(Change& change, Partition& partition) {
  enter_cpu_stage(change, partition, PartitionStage::kSynthesizing);
  change.log(partition, "synthesis started", {}, JournalLevel::kDebug);
}

void queue_for_device(Change& change, Partition& partition, std::unique_ptr<Synthesized> made) {
  EngineModel& model = change.model();
  partition.synth_end = partition.gpu_queue = change.now();
  partition.synthesized = std::move(made);
  set_stage(partition, PartitionStage::kGpuQueued, model.stages, change.now());
  partition.wait.turn_to({WaitReason::kDevice, change.now(), 0, 0});
  model.device_queue.push_back(&partition);
  change.publish().synthesis_ended(partition);
  change.publish().device_queued(partition);
  change.log(partition, "synthesized", {}, JournalLevel::kDebug);
}

std::unique_ptr<Synthesized> pick_up(Change& change, Partition& partition, Worker& worker) {
  EngineModel& model = change.model();
  leave_lines(model, partition);
  set_stage(partition, PartitionStage::kGpuProving, model.stages, change.now());
  partition.wait.end();
  partition.worker = worker.number;
  partition.device = worker.device->number;
  partition.gpu_pickup = change.now();
  worker.partition = &partition;
  worker.since = change.now();
  change.publish().picked_up(partition, worker, model);
  change.log(partition, "picked up", {}, JournalLevel::kDebug);
  return std::move(partition.synthesized);
}

void start_kernels(Change& change, Partition& partition) {
  EngineModel& model = change.model();
  Device& device = *model.workers[*partition.worker].device;
  assert(device.in_kernels == nullptr);
  device.in_kernels = &partition;
  partition.gpu_start = change.now();
  change.publish().kernels_started(partition, model);
}

void return_constraint_bytes(Change& change, Partition& partition) {
  EngineModel& model = change.model();
  partition.reserved.give_back(partition.job->circuit->working.constraint_values);
  set_stage(partition, PartitionStage::kFinishing, model.stages, change.now());
  change.publish().bytes_returned(partition, model);
}

void end_kernels(Change& change, Partition& partition) {
  EngineModel& model = change.model();
  model.workers[*partition.worker].device->in_kernels = nullptr;
  partition.gpu_end = change.now();
  change.publish().kernels_ended(partition, model);
}

Job* finish_partition(Change& change, Partition& partition, PartitionEnd end) {
  Job& job = *partition.job;
  if (partition.stage == PartitionStage::kWitnessing ||
      partition.stage == PartitionStage::kSynthesizing) {
    partition.synth_end = change.now();
    change.publish().synthesis_ended(partition);
  }
  if (end.proof) {
    partition.proof = std::move(end.proof);
    close_partition(change, partition, PartitionStage::kDone);
    change.log(partition, "partition done");
    return settle_job(change, job);
  }
  const PartitionStage stage = partition.stage;
  partition.failure_class = end.error->error_class;
  if (end.error->error_class == ErrorClass::kCancelled && job.failure) {
    partition.failure_class = job.failure->error_class;
    close_partition(change, partition, PartitionStage::kCancelled);
    return settle_job(change, job);
  }
  if (end.error->error_class == ErrorClass::kVerifyFailed) {
    change.model().keys.doubt(*job.circuit, change.now());
    change.publish().key_leaving(*job.circuit);
  }
  close_partition(change, partition, PartitionStage::kFailed);
  change.log(partition, "partition failed", end.error->text, JournalLevel::kWarn);
  change.note_error({failure_class_of(end.error->error_class), end.error->text, job.id,
                     partition.number, partition.device});
  stop_job(change, job,
           {end.error->error_class, end.error->text, stage, partition.number, partition.device});
  return nullptr;
}

void finish_assembly(Change& change, Job& job, std::shared_ptr<const std::string> result) {
  job.result = std::move(result);
  end_job(change, job);
}

void fail_assembly(Change& change, Job& job, const Error& error) {
  job.failure = Failure{error.error_class, error.text, {}, {}, {}};
  change.note_error({failure_class_of(error.error_class), error.text, job.id, {}, {}});
  end_job(change, job);
}

void stop_job(Change& change, Job& job, Failure cause) {
  if (shm::is_final(job.state) || job.is_ending) return;
  if (!job.failure) job.failure = std::move(cause);
  job.cancelled.store(true, std::memory_order_relaxed);
  job.next_pending = job.partition_count();
  job.retries.clear();
  for (Partition& partition : job.partitions) {
    if (partition.stage != PartitionStage::kPending &&
        partition.stage != PartitionStage::kGpuQueued) {
      continue;
    }
    partition.failure_class = job.failure->error_class;
    // The one that the failure names failed; the others are only not needed any more.
    const bool is_cause = job.failure->partition == partition.number &&
                          job.failure->error_class != ErrorClass::kCancelled;
    close_partition(change, partition,
                    is_cause ? PartitionStage::kFailed : PartitionStage::kCancelled);
  }
  change.publish().job_stopping(job);
  if (Job* to_assemble = settle_job(change, job); to_assemble != nullptr) std::abort();
}

}  // namespace vitrine::engine
