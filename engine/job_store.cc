// SPDX-License-Identifier: Apache-2.0
#include "engine/job_store.h"

#include <chrono>
#include <iterator>
#include <utility>

#include "engine/last_words.h"
#include "shm/clock.h"

namespace vitrine::engine {
namespace {

constexpr auto kTryAgain = std::chrono::seconds(1);
constexpr auto kLookForOld = std::chrono::seconds(60);
constexpr std::uint64_t kForgetEveryNs = 1'000'000'000;

}  // namespace

StartResult<std::unique_ptr<JobStore>> JobStore::open(const std::filesystem::path& path,
                                                      const ResultLimits& limits) {
  auto file = open_job_store_file(path);
  if (!file) return file.error();
  return std::unique_ptr<JobStore>(new JobStore(std::move(*file), limits));
}

JobStore::~JobStore() { stop(); }

Result<std::vector<StoredJob>> JobStore::take_unfinished() {
  auto transaction = SqliteTransaction::begin(file_.writer);
  if (!transaction) return transaction.error();
  if (auto counted = count_attempts(file_.writer); !counted) return counted.error();
  auto jobs = unfinished_jobs(file_.writer);
  if (!jobs) return jobs;
  if (auto committed = transaction->commit(); !committed) return committed.error();
  return jobs;
}

Result<std::vector<StoredRequest>> JobStore::requests() { return stored_requests(file_.writer); }
Result<JobId> JobStore::highest_id() { return highest_job_id(file_.writer); }

void JobStore::start(Listener listener) {
  listener_ = std::move(listener);
  thread_ = std::thread([this] {
    name_this_thread("job-store");
    run();
  });
}

void JobStore::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(queue_mutex_);
    is_stopping_ = true;
  }
  queue_changed_.notify_one();
  thread_.join();
}

void JobStore::set_limits(const ResultLimits& limits) {
  const std::lock_guard lock(queue_mutex_);
  limits_ = limits;
}

void JobStore::put(StoredJob job) {
  {
    const std::lock_guard lock(queue_mutex_);
    queue_.jobs.push_back(std::move(job));
  }
  queue_changed_.notify_one();
}

void JobStore::put(JobEnd end) {
  {
    const std::lock_guard lock(queue_mutex_);
    queue_.ends.push_back(std::move(end));
  }
  queue_changed_.notify_one();
}

void JobStore::put(const JobRun& run) {
  {
    const std::lock_guard lock(queue_mutex_);
    queue_.runs.push_back(run);
  }
  queue_changed_.notify_one();
}

Result<std::optional<StoredJob>> JobStore::finished(JobId id) {
  const std::lock_guard lock(reader_mutex_);
  return finished_job(file_.reader, id);
}

Result<std::vector<std::shared_ptr<const ProofTexts>>> JobStore::proofs(
    JobId id, std::optional<std::uint32_t> partition) {
  const std::lock_guard lock(reader_mutex_);
  return proofs_of(file_.reader, id, partition);
}

void JobStore::run() {
  bool is_last = false;
  while (!is_last) {
    listener_(write(next_batch()));
    const std::lock_guard lock(queue_mutex_);
    is_last = is_stopping_ && queue_.empty();
  }
}

// What has been put; nothing when it is time to try again or to look for old jobs, as at the start.
JobStore::Batch JobStore::next_batch() {
  std::unique_lock lock(queue_mutex_);
  const auto patience = has_fault_              ? kTryAgain
                        : forget_after_ns_ == 0 ? std::chrono::seconds(0)
                                                : kLookForOld;
  queue_changed_.wait_for(lock, patience, [this] { return is_stopping_ || !queue_.empty(); });
  return std::exchange(queue_, {});
}

// What concerns known jobs without the new ones if need be: a running job that ends must not fail
// for the sake of a new one that does not fit.
StoreReport JobStore::write(Batch batch) {
  StoreReport report;
  for (const StoredJob& job : batch.jobs) report.stored.push_back(job.record.job.value);
  for (const JobRun& run : batch.runs) report.begun.push_back(run.job);
  for (const JobEnd& end : batch.ends) report.ended.push_back(end.record.job.value);
  batch.ends.insert(batch.ends.begin(), std::make_move_iterator(put_off_.begin()),
                    std::make_move_iterator(put_off_.end()));
  put_off_.clear();
  if (const auto written = write_all(batch); !written) {
    report.fault = "the job store: " + written.error().text;
    report.refused = std::exchange(report.stored, {});
    if (!write_known(batch)) put_off_ = std::move(batch.ends);
  } else {
    forget(report);
  }
  has_fault_ = !report.fault.empty();
  return report;
}

Result<void> JobStore::write_all(const Batch& batch) {
  if (batch.empty() && !has_fault_) return {};
  auto transaction = SqliteTransaction::begin(file_.writer);
  if (!transaction) return transaction.error();
  // A write for its own sake tells whether the disk takes any again.
  if (has_fault_) {
    if (auto done = file_.writer.run("UPDATE probe SET count=count+1"); !done) return done;
  }
  for (const StoredJob& job : batch.jobs) {
    if (auto done = insert_job(file_.writer, job); !done) return done;
  }
  for (const JobRun& run : batch.runs) {
    if (auto done = note_run(file_.writer, run); !done) return done;
  }
  for (const JobEnd& end : batch.ends) {
    if (auto done = end_job(file_.writer, end); !done) return done;
  }
  return transaction->commit();
}

Result<void> JobStore::write_known(const Batch& batch) {
  Batch known;
  known.runs = batch.runs;
  known.ends = batch.ends;
  return known.empty() ? Result<void>() : write_all(known);
}

void JobStore::forget(StoreReport& report) {
  if (shm::monotonic_ns() < forget_after_ns_) return;
  forget_after_ns_ = shm::monotonic_ns() + kForgetEveryNs;
  auto transaction = SqliteTransaction::begin(file_.writer);
  if (!transaction) return;
  ResultLimits limits;
  {
    const std::lock_guard lock(queue_mutex_);
    limits = limits_;
  }
  auto forgotten = forget_jobs(file_.writer, limits, shm::unix_ns());
  if (!forgotten || forgotten->empty() || !transaction->commit()) return;
  report.forgotten = std::move(*forgotten);
  // There may be more where these came from.
  if (report.forgotten.size() == kForgottenAtOnce) forget_after_ns_ = 0;
}

}  // namespace vitrine::engine
