// SPDX-License-Identifier: Apache-2.0
#include "engine/durable_jobs.h"

#include <cassert>
#include <string_view>
#include <utility>

#include "engine/job_lifecycle.h"
#include "engine/job_store.h"
#include "engine/status_records.h"
#include "engine/thread_step.h"

namespace vitrine::engine {
namespace {

using shm::JobState;
using shm::PartitionStage;

StoredWitness stored_witness(const WitnessFile& file) {
  if (!file.copy) return {StoredWitness::Owner::kClient, file.path.string(), {}, 0, file.kind};
  return {StoredWitness::Owner::kEngine, file.path.filename().string(), file.name, file.bytes,
          file.kind};
}

void settle(Job& job, const std::string& refusal) {
  job.store_answer->is_settled = true;
  job.store_answer->refusal = refusal;
}

void wait_for_next_start(Change& change, Job& job) {
  const WaitState wait{shm::WaitReason::kPaused, change.now(), 0, 0};
  if (job.wait.turn_to(wait)) change.publish().job_waits(job);
  for (Partition& partition : job.partitions) {
    if (partition.stage != PartitionStage::kPending) continue;
    if (partition.wait.turn_to(wait)) change.publish().partition_waits(partition);
  }
}

constexpr std::string_view kWriting = "writing";

template <class Stored>
void put(Change& change, Stored stored) {
  EngineModel& model = change.model();
  model.store->put(std::move(stored));
  if (model.at_store++ == 0) give_step(change, model.store_thread, kWriting);
}

void take_from_store(Change& change, std::size_t reported) {
  EngineModel& model = change.model();
  assert(reported <= model.at_store);
  if (reported == 0) return;
  model.at_store -= reported;
  if (model.at_store > 0) {
    give_step(change, model.store_thread, kWriting);
  } else {
    take_back_step(change, model.store_thread);
  }
}

}  // namespace

void give_to_store(Change& change, StoredJob job) { put(change, std::move(job)); }

void give_to_store(Change& change, JobEnd end) { put(change, std::move(end)); }

void put_job(Change& change, Job& job) {
  job.is_stored = true;
  job.store_answer = std::make_shared<StoreAnswer>();
  StoredJob stored;
  stored.record = record_of(job);
  stored.at_deadline = job.at_deadline;
  for (const Partition& partition : job.partitions) {
    stored.witnesses.push_back(stored_witness(partition.witness));
    end_as(partition.witness, WitnessCopy::End::kKept);
  }
  give_to_store(change, std::move(stored));
}

void put_run(Change& change, Job& job) {
  if (!job.is_stored) return;
  job.awaits_store = job.is_resumed();
  change.model().store->put(JobRun{job.id, JobRun::Turn::kBegins});
}

void put_end(Change& change, Job& job, JobState end) {
  assert(!job.is_ending && "one end per job");
  job.is_ending = true;
  JobEnd stored;
  stored.record = record_of(job);
  stored.record.state = end;
  stored.record.finished = change.now();
  if (job.failure) stored.failure = job.failure->text;
  if (end == JobState::kDone) {
    for (const Partition& partition : job.partitions) stored.proofs.push_back(partition.proof);
  }
  give_to_store(change, std::move(stored));
}

void take_report(Change& change, const StoreReport& report) {
  EngineModel& model = change.model();
  take_from_store(change, report.stored.size() + report.refused.size() + report.ended.size());
  for (const JobId id : report.stored) {
    Job* job = model.jobs.find(id);
    if (job == nullptr) continue;
    settle(*job, {});
    if (!job->failure) queue_job(change, *job);
  }
  for (const JobId id : report.refused) {
    Job* job = model.jobs.find(id);
    if (job == nullptr) continue;
    settle(*job, report.fault);
    if (!job->failure) refuse_received_job(change, *job, report.fault);
  }
  for (const JobId id : report.begun) {
    if (Job* job = model.jobs.find(id)) job->awaits_store = false;
  }
  for (const JobId id : report.ended) {
    Job* job = model.jobs.find(id);
    if (job != nullptr) finish_job(change, *job);
  }
  for (const ForgottenJob& job : report.forgotten) model.requests.forget(job.request, job.job);
  change.turn_reason(model.store_fault, report.fault);
}

void set_aside(Change& change, Job& job) {
  assert(job.is_stored && !job.is_ending && !job.failure);
  job.is_set_aside = true;
  if (shm::is_waiting(job.state)) return wait_for_next_start(change, job);
  stop_job(change, job,
           {ErrorClass::kLost,
            "the engine stopped before the job was done; the next start takes it up again",
            {},
            {},
            {}});
}

bool is_left(const Job& job) {
  return job.is_set_aside && !job.is_ending && shm::is_waiting(job.state);
}

void queue_again(Change& change, Job& job) {
  job.failure.reset();
  set_state(job, JobState::kQueued);
  change.model().store->put(JobRun{job.id, JobRun::Turn::kStops});
  wait_for_next_start(change, job);
  change.log(job, "job left for the next start");
}

}  // namespace vitrine::engine
