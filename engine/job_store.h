// SPDX-License-Identifier: Apache-2.0
// JobStore: jobs on disk, so that none vanishes with its engine.
//
// Threads  put() from any, and never waits: one thread writes. What has come in while it wrote goes
//          to disk in one transaction (group commit), so many submits share one wait for the disk.
//          Reads go through a connection of their own, one at a time, and wait for no writer.
// Cost     put() allocates what it keeps; its owner bounds how much: a few writes a job at most
//          wait, and there are no more jobs than rows of the status plane.
// Crash    a job is in the file whole, with its end or without, from the moment its report says so
//          (job_store_file.h); what was put and not reported may or may not be.
// Why      see docs/decisions/0010-durable-jobs.md for what is written before what.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "engine/job_store_file.h"
#include "engine/job_store_rows.h"
#include "engine/stored_job.h"

namespace vitrine::engine {

// What became of what was put.
struct StoreReport {
  std::vector<JobId> stored;
  std::vector<JobId> refused;  // not in the store, for the reason `fault`
  // On disk, or put off for the reason `fault`: the store tries again until it goes well or ends.
  std::vector<JobId> ended;
  std::vector<JobId> begun;  // that they run is on disk, as far as it takes anything
  std::vector<ForgottenJob> forgotten;
  std::string fault;  // empty: the last write went well
};

class JobStore {
 public:
  using Listener = std::function<void(const StoreReport&)>;

  [[nodiscard]] static StartResult<std::unique_ptr<JobStore>> open(
      const std::filesystem::path& path, const ResultLimits& limits);
  ~JobStore();

  // The jobs that no engine has ended, each with the number of the attempt that begins now, which
  // is on disk when this returns. To be called before start().
  [[nodiscard]] Result<std::vector<StoredJob>> take_unfinished();
  [[nodiscard]] Result<std::vector<StoredRequest>> requests();
  [[nodiscard]] Result<JobId> highest_id();

  // Begins to write. The listener is called by the writing thread.
  void start(Listener listener);
  // Writes what has been put so far, tries once more what was put off, and ends the thread.
  void stop();

  // From the next time that something is forgotten on.
  void set_limits(const ResultLimits& limits);

  void put(StoredJob job);
  void put(JobEnd end);
  void put(const JobRun& run);

  // A final job that is kept.
  [[nodiscard]] Result<std::optional<StoredJob>> finished(JobId id);
  // Of one partition or of all; empty when there are none.
  [[nodiscard]] Result<std::vector<std::shared_ptr<const ProofTexts>>> proofs(
      JobId id, std::optional<std::uint32_t> partition);

 private:
  struct Batch {
    std::vector<StoredJob> jobs;
    std::vector<JobRun> runs;
    std::vector<JobEnd> ends;
    [[nodiscard]] bool empty() const { return jobs.empty() && runs.empty() && ends.empty(); }
  };

  JobStore(JobStoreFile file, const ResultLimits& limits)
      : file_(std::move(file)), limits_(limits) {}

  void run();
  [[nodiscard]] Batch next_batch();
  [[nodiscard]] StoreReport write(Batch batch);
  [[nodiscard]] Result<void> write_known(const Batch& batch);
  [[nodiscard]] Result<void> write_all(const Batch& batch);
  void forget(StoreReport& report);

  JobStoreFile file_;
  ResultLimits limits_;  // guarded by queue_mutex_
  Listener listener_;
  std::vector<JobEnd> put_off_;  // ends that could not be written yet
  bool has_fault_ = false;
  std::uint64_t forget_after_ns_ = 0;

  std::mutex queue_mutex_;  // held to put and to take only
  std::condition_variable queue_changed_;
  Batch queue_;
  bool is_stopping_ = false;

  std::mutex reader_mutex_;
  std::thread thread_;
};

}  // namespace vitrine::engine
