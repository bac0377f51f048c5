// SPDX-License-Identifier: Apache-2.0
#include "engine/job_resumption.h"

#include <utility>

#include "engine/circuit_fault.h"
#include "engine/durable_jobs.h"
#include "engine/job_lifecycle.h"
#include "engine/job_store.h"
#include "engine/spool.h"

namespace vitrine::engine {
namespace {

// The witness of one partition, or why there is none.
Result<WitnessFile> find_witness(const StoredWitness& stored, Spool& spool) {
  if (stored.owner == StoredWitness::Owner::kEngine) {
    auto file = spool.take_back(stored.path, stored.bytes);
    if (!file) return file;
    file->name = stored.name;
    file->kind = stored.kind;
    return file;
  }
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(stored.path, ignored)) {
    return bad_input(stored.path + " is not there any more");
  }
  WitnessFile file{stored.path, nullptr};
  file.kind = stored.kind;
  return file;
}

ResumedJob find_witnesses(StoredJob job, Spool& spool) {
  ResumedJob resumed;
  for (std::size_t number = 0; number < job.witnesses.size(); ++number) {
    auto file = find_witness(job.witnesses[number], spool);
    if (file) {
      resumed.witnesses.push_back(std::move(*file));
      continue;
    }
    resumed.lost = "the engine ended before the job was done, and " +
                   witness_label(job.witnesses[number].kind, number, job.witnesses[number].name) +
                   " " + file.error().text;
    break;
  }
  const bool is_whole = job.record.partitions > 0 && job.record.partitions <= kPartitionsMax &&
                        resumed.witnesses.size() == job.record.partitions;
  if (!is_whole && resumed.lost.empty()) {
    resumed.lost = "the engine ended before the job was done, and its witnesses are not all known";
  }
  resumed.job = std::move(job);
  return resumed;
}

// It cannot even have rows: only the store and the log can say so.
void lose_unseen(Change& change, ResumedJob resumed, const std::string& why) {
  JobEnd end;
  end.record = resumed.job.record;
  end.record.state = shm::JobState::kLost;
  end.record.failure_class = shm::FailureClass::kLost;
  end.record.finished = change.now();
  end.failure = why;
  JournalEntry entry;
  entry.level = JournalLevel::kWarn;
  entry.what = "job lost";
  entry.job = end.record.job.value;
  entry.attempt = end.record.attempt;
  entry.detail = why;
  change.log(std::move(entry));
  change.note_error({shm::FailureClass::kLost, why, end.record.job.value, {}, {}});
  const std::string request(end.record.request.view());
  change.model().requests.end(request, end.record.job.value, end.record.state);
  give_to_store(change, std::move(end));
  for (const WitnessFile& file : resumed.witnesses) end_as(file, WitnessCopy::End::kRemoved);
  change.dispose(std::move(resumed.witnesses));
}

}  // namespace

Result<std::vector<ResumedJob>> take_up_jobs(JobStore& store, Spool& spool,
                                             std::uint32_t deaths_max) {
  auto unfinished = store.take_unfinished();
  if (!unfinished) return unfinished.error();
  std::vector<ResumedJob> jobs;
  for (StoredJob& job : *unfinished) {
    const std::uint32_t deaths = job.deaths;
    jobs.push_back(find_witnesses(std::move(job), spool));
    if (deaths_max == 0 || deaths < deaths_max) continue;
    jobs.back().lost = "its engine died " + std::to_string(deaths) +
                       (deaths == 1 ? " time" : " times") +
                       " while it ran, and job_attempts = " + std::to_string(deaths_max);
  }
  spool.remove_orphans();
  return jobs;
}

Result<JobId> know_store(EngineModel& model, JobStore& store) {
  const auto requests = store.requests();
  if (!requests) return requests.error();
  for (const StoredRequest& request : *requests) model.requests.begin(request);
  model.store = &store;
  return store.highest_id();
}

void resume_job(Change& change, ResumedJob resumed) {
  EngineModel& model = change.model();
  const shm::JobRecord& record = resumed.job.record;
  const std::string circuit_id(record.circuit.view());
  Circuit* circuit = model.keys.find(circuit_id);
  if (circuit == nullptr) {
    return lose_unseen(change, std::move(resumed),
                       "circuit " + circuit_id + " is not configured any more");
  }
  if (resumed.job.record.partitions > kPartitionsMax || !model.jobs.has_room(record.partitions)) {
    return lose_unseen(change, std::move(resumed), "status capacity: no rows are free for it");
  }
  if (const auto refusal = lasting_refusal(model, *circuit); refusal && resumed.lost.empty()) {
    resumed.lost = refusal->text;
  }
  if (const auto refusal = input_refusal(*circuit, resumed.witnesses);
      refusal && resumed.lost.empty())
    resumed.lost = refusal->text;
  Job& job = add_resumed_job(change, *circuit, resumed);
  if (resumed.lost.empty()) return queue_job(change, job);
  change.note_error({shm::FailureClass::kLost, resumed.lost, job.id, {}, {}});
  stop_job(change, job, {ErrorClass::kLost, resumed.lost, {}, {}, {}});
}

}  // namespace vitrine::engine
