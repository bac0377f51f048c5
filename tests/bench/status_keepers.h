// SPDX-License-Identifier: Apache-2.0
// Two keepers of the same status: the segment, and a tracker made the usual way.
//
// Layout   both hold `jobs` jobs of `partitions` partitions each and kWorkers workers, in records
//          of the segment's own kinds.
// Threads  update() in the engine's thread, under the keeper's own lock; polls in any other.
// Why      one body of update for both, so that only the way of keeping differs. Rows come in an
//          order drawn at random, as from an engine with many jobs in its hands.
#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "shm/segment_reader.h"
#include "shm/segment_writer.h"
#include "tests/scratch_folder.h"

namespace vitrine::bench {

inline constexpr std::uint32_t kWorkers = 16;

struct Scale {
  std::uint32_t jobs;
  std::uint32_t partitions;  // per job
};

// One step of one partition on a worker.
struct Step {
  std::uint32_t job;
  std::uint32_t partition;
  std::uint32_t worker;
};

class Steps {
 public:
  explicit Steps(const Scale& scale) : steps_(4096) {
    std::mt19937_64 random(1);
    for (Step& step : steps_) {
      step = {static_cast<std::uint32_t>(random() % scale.jobs),
              static_cast<std::uint32_t>(random() % scale.partitions),
              static_cast<std::uint32_t>(random() % kWorkers)};
    }
  }
  const Step& next() { return steps_[++number_ % steps_.size()]; }
  std::uint64_t number() const { return number_; }

 private:
  std::vector<Step> steps_;
  std::uint64_t number_ = 0;
};

// What a step changes, whoever keeps the records.
inline void apply(shm::JobRecord& job, shm::PartitionRecord& partition, shm::WorkerRecord& worker,
                  const Step& step, std::uint64_t number) {
  job.state = shm::JobState::kRunning;
  job.partitions_gpu_proving = static_cast<std::uint32_t>(number);
  partition.stage = shm::PartitionStage::kGpuProving;
  partition.worker = shm::Index::of(step.worker);
  partition.gpu_start = {number};
  worker.state = shm::WorkerState::kProving;
  worker.partition = shm::Index::of(step.partition);
  worker.since = {number};
}

inline shm::Event event_of(const Step& step, std::uint64_t number) {
  shm::Event event;
  event.type = shm::EventType::kGpuStart;
  event.time = {number};
  event.job = {step.job + std::uint64_t{1}};
  event.partition = shm::Index::of(step.partition);
  event.worker = shm::Index::of(step.worker);
  return event;
}

// The bytes that one step changes, for a copy that does nothing else.
inline constexpr std::size_t kStepBytes = sizeof(shm::JobRecord) + sizeof(shm::PartitionRecord) +
                                          sizeof(shm::WorkerRecord) + sizeof(shm::Event);

class SegmentKeeper {
 public:
  static constexpr const char* kName = "vitrine";

  explicit SegmentKeeper(const Scale& scale)
      : scale_(scale), steps_(scale), writer_(publish(scratch_ / "bench.segment", scale)) {
    shm::Transaction transaction = writer_.begin();
    for (std::uint32_t job = 0; job < scale.jobs; ++job) {
      transaction.recycle<shm::JobRecord>(job).state = shm::JobState::kRunning;
      for (std::uint32_t i = 0; i < scale.partitions; ++i) {
        transaction.recycle<shm::PartitionRecord>(job * scale.partitions + i).stage =
            shm::PartitionStage::kPending;
      }
    }
    for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
      transaction.recycle<shm::WorkerRecord>(worker).state = shm::WorkerState::kIdle;
    }
    transaction.edit<shm::MemoryRecord>().budget_bytes = 1;
  }

  void update() {
    const Step& step = steps_.next();
    const std::lock_guard lock(mutex_);
    shm::Transaction transaction = writer_.begin();
    edit(transaction, step);
    transaction.append(event_of(step, steps_.number()));
  }
  // The same and the sum that nearly every change of an engine touches.
  void update_with_total() {
    const Step& step = steps_.next();
    const std::lock_guard lock(mutex_);
    shm::Transaction transaction = writer_.begin();
    edit(transaction, step);
    transaction.edit<shm::MemoryRecord>().reserved_bytes = steps_.number();
    transaction.append(event_of(step, steps_.number()));
  }

  class Poller {
   public:
    explicit Poller(const SegmentKeeper& keeper)
        : reader_(shm::SegmentReader::attach(keeper.writer_.path()).value()) {}
    void poll() {
      if (!reader_.snapshot(snapshot_)) throw std::runtime_error("the segment cannot be read");
    }
    const shm::Snapshot& last() const { return snapshot_; }

   private:
    shm::SegmentReader reader_;
    shm::Snapshot snapshot_;
  };

 private:
  static shm::SegmentWriter publish(const std::filesystem::path& path, const Scale& scale) {
    shm::SegmentOptions options;
    options.instance = "bench";
    options.path = path;
    options.capacity.jobs = std::max(options.capacity.jobs, scale.jobs);
    options.capacity.partitions =
        std::max(options.capacity.partitions, scale.jobs * scale.partitions);
    auto writer = shm::SegmentWriter::publish_named(options);
    if (!writer) throw std::runtime_error(writer.error().text);
    return std::move(*writer);
  }
  void edit(shm::Transaction& transaction, const Step& step) {
    apply(transaction.edit<shm::JobRecord>(step.job),
          transaction.edit<shm::PartitionRecord>(step.job * scale_.partitions + step.partition),
          transaction.edit<shm::WorkerRecord>(step.worker), step, steps_.number());
  }

  SharedScratchFolder scratch_;
  Scale scale_;
  Steps steps_;
  std::mutex mutex_;
  shm::SegmentWriter writer_;
};

class TrackerKeeper {
 public:
  static constexpr const char* kName = "tracker";

  explicit TrackerKeeper(const Scale& scale) : steps_(scale), workers_(kWorkers), events_(16384) {
    for (std::uint64_t id = 1; id <= scale.jobs; ++id) {
      jobs_[id].partitions.resize(scale.partitions);
    }
  }

  void update() {
    const Step& step = steps_.next();
    const std::unique_lock lock(mutex_);
    Job& job = jobs_.find(step.job + std::uint64_t{1})->second;
    apply(job.record, job.partitions[step.partition], workers_[step.worker], step, steps_.number());
    events_[steps_.number() % events_.size()] = event_of(step, steps_.number());
  }

  struct Job {
    shm::JobRecord record;
    std::vector<shm::PartitionRecord> partitions;
  };
  struct Status {
    std::vector<Job> jobs;
    std::vector<shm::WorkerRecord> workers;
  };

  class Poller {
   public:
    explicit Poller(const TrackerKeeper& keeper) : keeper_(keeper) {}
    void poll() { status_ = keeper_.status(); }

   private:
    const TrackerKeeper& keeper_;
    Status status_;
  };

 private:
  Status status() const {
    const std::shared_lock lock(mutex_);
    Status status;
    status.jobs.reserve(jobs_.size());
    for (const auto& [id, job] : jobs_) status.jobs.push_back(job);
    status.workers = workers_;
    return status;
  }

  Steps steps_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, Job> jobs_;
  std::vector<shm::WorkerRecord> workers_;
  std::vector<shm::Event> events_;
};

// The step's bytes copied between private arrays of the same sizes and in the same order of rows.
class CopyKeeper {
 public:
  static constexpr const char* kName = "memcpy";

  explicit CopyKeeper(const Scale& scale)
      : scale_(scale), steps_(scale), from_(scale), to_(scale) {}

  void update() {
    const Step& step = steps_.next();
    copy(to_.jobs, from_.jobs, step.job);
    copy(to_.partitions, from_.partitions, step.job * scale_.partitions + step.partition);
    copy(to_.workers, from_.workers, step.worker);
    copy(to_.events, from_.events, steps_.number() % to_.events.size());
  }

 private:
  struct Tables {
    explicit Tables(const Scale& scale)
        : jobs(scale.jobs),
          partitions(std::size_t{scale.jobs} * scale.partitions),
          workers(kWorkers),
          events(16384) {}
    std::vector<shm::JobRecord> jobs;
    std::vector<shm::PartitionRecord> partitions;
    std::vector<shm::WorkerRecord> workers;
    std::vector<shm::Event> events;
  };
  template <class Record>
  static void copy(std::vector<Record>& to, const std::vector<Record>& from, std::size_t row) {
    std::memcpy(static_cast<void*>(&to[row]), &from[row], sizeof(Record));
    asm volatile("" : : "r"(&to[row]) : "memory");  // no copy may be left out
  }

  Scale scale_;
  Steps steps_;
  Tables from_;
  Tables to_;
};

}  // namespace vitrine::bench
