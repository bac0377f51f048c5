// SPDX-License-Identifier: Apache-2.0
// Job and Partition: one record each for the whole life of an item, whatever path it takes.
//
// Threads: guarded by the engine's state mutex, except `Job::cancelled`, which stages read while
// they compute. A job stays in memory until its row is given to another; that never happens
// before it is final. A stage keeps it with a PartitionHold while it computes: the worker of a lost
// device may still compute when its partition, and the job, have long ended elsewhere.
// Why: counts are derived from states: set_state and set_stage are the only places that change
// either, so they cannot disagree (invariants I1 and I3).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/duration_tally.h"
#include "engine/error.h"
#include "engine/groth16.h"
#include "engine/proving_key_cache.h"
#include "engine/wait_state.h"
#include "engine/witness_file.h"
#include "shm/records.h"
#include "shm/words.h"

namespace vitrine::engine {

// Milliseconds from 2026 to the engine's start, plus a count (docs/decisions/0003-job-ids.md).
using JobId = std::uint64_t;

inline constexpr std::uint32_t kPartitionsMax = 256;
inline constexpr std::size_t kStageCount =
    static_cast<std::size_t>(shm::PartitionStage::kCancelled) + 1;
inline constexpr std::size_t kJobStateCount = static_cast<std::size_t>(shm::JobState::kLost) + 1;

using StageCounts = std::array<std::uint32_t, kStageCount>;

// One row per proof kind: how many jobs are or ended in each state.
struct KindTally {
  std::string kind;
  std::uint64_t submitted = 0;
  std::array<std::uint64_t, kJobStateCount> jobs{};
  std::array<std::uint64_t, kStageCount> partitions_ended{};  // final stages only
  // Of partitions that went on from a stage; at kDone: from created to done.
  std::array<DurationTally, kStageCount> stage_times{};
  std::uint64_t partitions_retried = 0;
  std::uint64_t deadlines_missed = 0;
};

struct Failure {
  ErrorClass error_class = ErrorClass::kInternal;
  std::string text;
  shm::PartitionStage stage{};
  std::optional<std::uint32_t> partition;
  std::optional<std::uint32_t> device;
};

// What a device needs and only synthesis makes.
struct Synthesized {
  Witness witness;
  ConstraintValues values;
};

// A proof as it leaves the engine.
struct ProofTexts {
  std::string proof;   // snarkjs' proof.json
  std::string inputs;  // snarkjs' public.json
};

// Whether the job store has the job: what those who submitted it wait for.
struct StoreAnswer {
  bool is_settled = false;
  std::string refusal;  // why it has it not; empty when it has
};

struct Job;

struct Partition {
  Job* job = nullptr;
  std::uint32_t number = 0;
  std::uint32_t row = 0;  // in the status plane
  shm::PartitionStage stage = shm::PartitionStage::kUnknown;
  shm::PartitionStage last_stage{};  // the one it ended in
  shm::Instant stage_since;
  std::uint32_t attempt = 1;
  std::optional<std::uint32_t> excluded_device;  // that failed the attempt before
  std::optional<ErrorClass> retry_cause;         // how it did
  WaitState wait;
  std::optional<std::uint32_t> worker, device;
  std::optional<ErrorClass> failure_class;
  shm::Instant created, synth_start, synth_end, gpu_queue, gpu_pickup, gpu_start, gpu_end, finished;

  Reservation reserved;
  KeyUse key_use;
  WitnessFile witness;
  std::unique_ptr<Synthesized> synthesized;  // while it waits for a device
  std::shared_ptr<const ProofTexts> proof;   // when done
};

struct Job : std::enable_shared_from_this<Job> {
  JobId id = 0;
  std::uint32_t row = 0;
  shm::JobState state = shm::JobState::kUnknown;
  shm::Priority priority = shm::Priority::kNormal;
  std::shared_ptr<Circuit> circuit;
  KindTally* tally = nullptr;
  std::string request;
  std::uint32_t attempt = 1;

  std::vector<Partition> partitions;  // never resized once the job exists
  StageCounts stages{};
  std::uint32_t next_pending = 0;      // partitions before it have been started
  std::vector<std::uint32_t> retries;  // of those, the ones to be started again, oldest first
  std::uint64_t batch = 0;             // that it was collected into; zero: none
  shm::Instant waiting_since;          // a partition began last; at first, submitted
  bool asked_for_key = false;          // its key was loaded for its sake

  WaitState wait;
  shm::Instant submitted, admitted, started, finished, deadline;
  enum class AtDeadline { kGoOn, kStop } at_deadline = AtDeadline::kGoOn;
  bool has_missed_deadline = false;
  shm::Instant expected_end;                  // expected_ends.h; not set when it is not known
  std::optional<Failure> failure;             // the first cause
  std::shared_ptr<const std::string> result;  // once assembled (result_assembly.h)
  std::atomic<bool> cancelled{false};

  // See durable_jobs.h.
  bool is_stored = false;                     // in the job store, or on its way
  bool is_ending = false;                     // how it ends is decided, and on its way to the store
  bool is_set_aside = false;                  // for the next start
  bool awaits_store = false;                  // before it begins; see put_run()
  std::shared_ptr<StoreAnswer> store_answer;  // null unless it was received with a store

  // An engine before this one received it.
  [[nodiscard]] bool is_resumed() const { return is_stored && store_answer == nullptr; }
  // False of what the scheduler is not to look at.
  [[nodiscard]] bool may_start() const {
    return state != shm::JobState::kReceived && !is_set_aside;
  }
  [[nodiscard]] std::uint32_t partition_count() const {
    return static_cast<std::uint32_t>(partitions.size());
  }
  [[nodiscard]] std::uint32_t pending() const {
    return partition_count() - next_pending + static_cast<std::uint32_t>(retries.size());
  }
  // Number of the partition that starts after `ahead` others. Requires: ahead < pending().
  [[nodiscard]] std::uint32_t to_start(std::size_t ahead = 0) const {
    if (ahead < retries.size()) return retries[ahead];
    return next_pending + static_cast<std::uint32_t>(ahead - retries.size());
  }
  // The first of them counts as started.
  void take_to_start() {
    if (retries.empty()) {
      ++next_pending;
    } else {
      retries.erase(retries.begin());
    }
  }
  [[nodiscard]] std::uint32_t count(shm::PartitionStage stage) const {
    return stages[static_cast<std::size_t>(stage)];
  }
  [[nodiscard]] bool all_partitions_final() const {
    return count(shm::PartitionStage::kDone) + count(shm::PartitionStage::kFailed) +
               count(shm::PartitionStage::kCancelled) ==
           partition_count();
  }
};

// The only ways to change a state. Counts and stage times follow.
void set_state(Job& job, shm::JobState state);
void set_stage(Partition& partition, shm::PartitionStage stage, StageCounts& engine_wide,
               shm::Instant now);

// The class as the segment spells it.
[[nodiscard]] shm::FailureClass failure_class_of(ErrorClass error_class);

}  // namespace vitrine::engine
