// SPDX-License-Identifier: Apache-2.0
// EngineModel: everything the engine knows about its work, in one place. The status plane shows
// exactly this.
//
// Threads: reachable only through a Change or a look of EngineState (state.h), so the state mutex
// is held whenever it is touched.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/degraded_reasons.h"
#include "engine/device.h"
#include "engine/error_log.h"
#include "engine/job.h"
#include "engine/job_table.h"
#include "engine/memory_budget.h"
#include "engine/proving_key_cache.h"
#include "engine/request_index.h"
#include "engine/scheduler.h"
#include "engine/thread_step.h"
#include "shm/segment_plan_writer.h"
#include "shm/words.h"

namespace vitrine::engine {

class JobStore;

// What a worker still holds whose partition was taken away: it comes back when the worker answers.
struct AbandonedWork {
  std::shared_ptr<const Circuit> circuit;
  KeyUse key_use;
  std::uint64_t withheld_bytes = 0;  // of the budget
};

// One thread that takes partitions from the device queue.
struct Worker {
  std::uint32_t number = 0;
  Device* device = nullptr;
  Partition* partition = nullptr;  // in hand
  shm::Instant since;
  std::uint64_t busy_ns = 0, partitions_done = 0, partitions_failed = 0, restarts = 0;
  Job* assembling = nullptr;               // whose result it assembles
  std::optional<AbandonedWork> abandoned;  // what it was at when its device was lost
};

// Places before the devices, and loads at once, beyond those for everybody: for critical jobs.
inline constexpr std::uint32_t kCriticalPlaces = 1;
inline constexpr std::uint32_t kCriticalLoaders = 1;

// What work never changes: set at the start, some of it (live_settings.h) by a reload.
struct EngineFacts {
  shm::Backend requested_backend = shm::Backend::kAuto;
  std::string kernel_path;
  shm::Instant started;
  std::uint32_t synthesis_limit = 1;
  std::uint32_t device_queue_capacity = 2;
  std::uint32_t job_queue_capacity = 256;
  std::uint32_t key_loaders = 1;  // one more is kept for critical jobs
  SchedulerRules rules;
  std::uint64_t step_limit_ns = 0;  // longest that a thread may be at one step; zero: no limit
};

// Memory of the last plan, used again.
struct PlanningSpace {
  std::vector<CircuitDemand> circuits;
  std::vector<JobDemand> demands;
  std::vector<Job*> waiting;  // the job of each demand
  Plan plan;
};

struct QueuePeaks {
  std::uint32_t jobs = 0, synthesis = 0, device = 0, synthesizing = 0, kernels = 0, loads = 0;
};

struct EngineModel {
  EngineModel(std::uint64_t budget_bytes, ProvingKeyCache key_cache, const shm::Capacity& capacity)
      : budget(budget_bytes),
        keys(std::move(key_cache)),
        errors(capacity.errors),
        jobs({capacity.jobs, capacity.partitions}) {}
  EngineModel(const EngineModel&) = delete;
  EngineModel& operator=(const EngineModel&) = delete;

  EngineFacts facts;
  // Before the keys and jobs: their reservations go back to it when they are destroyed.
  MemoryBudget budget;
  ProvingKeyCache keys;
  std::vector<std::unique_ptr<KindTally>> tallies;
  std::vector<Device> devices;  // never resized once there are workers
  std::vector<Worker> workers;
  std::vector<ThreadState> threads;  // one each, by ThreadRow
  ErrorLog errors;

  JobTable jobs;
  RequestIndex requests;
  JobStore* store = nullptr;            // null: jobs are in memory only
  ThreadRow store_thread = 0;           // its row, when there is a store
  std::size_t at_store = 0;             // that were put and not reported yet
  std::string store_fault;              // that the engine is degraded for; empty: none
  std::string spool_fault;              // the same
  StageCounts stages{};                 // partitions that are not final, by stage
  std::deque<Partition*> granted;       // bytes reserved, synthesis not yet begun
  std::deque<Partition*> device_queue;  // synthesized, oldest first
  std::uint32_t memory_waiters = 0;     // items whose wait reason is memory
  std::uint64_t memory_waiting_bytes = 0;
  QueuePeaks peaks;
  std::uint64_t last_batch = 0;  // number of the newest batch of jobs
  // When time alone changes what is to be done: the alarm makes a change then. Zero: it does not.
  std::uint64_t wake_at_ns = 0;

  shm::EngineLife life = shm::EngineLife::kStarting;
  std::uint32_t exit_code = 0;
  DegradedReasons degraded;
  bool paused = false;
  bool hurried = false;   // running jobs are not waited for
  bool is_over = false;   // drained: nobody waits for a job any more
  bool stopping = false;  // threads end as soon as they have nothing in hand
  shm::Backend effective_backend = shm::Backend::kCpu;
  std::uint64_t backend_fallbacks = 0;
  std::uint64_t stale_events = 0;  // ends of work that was no longer a worker's
  std::uint64_t recycled_rows = 0;
  std::uint64_t refused_for_capacity = 0;
  std::uint32_t refused_impossible = 0;
  std::uint64_t refused_queue_full = 0;
  std::uint64_t process_resident_bytes = 0;

  PlanningSpace planning;

  [[nodiscard]] std::uint32_t in_stage(shm::PartitionStage stage) const {
    return stages[static_cast<std::size_t>(stage)];
  }
  // Partitions in the hands of synthesis threads.
  [[nodiscard]] std::uint32_t synthesizing() const {
    return in_stage(shm::PartitionStage::kWitnessing) +
           in_stage(shm::PartitionStage::kSynthesizing);
  }
  // Jobs that are received, queued or admitting.
  [[nodiscard]] std::uint32_t waiting_jobs() const {
    std::uint64_t waiting = 0;
    for (const auto& tally : tallies) {
      waiting += tally->jobs[static_cast<std::size_t>(shm::JobState::kReceived)] +
                 tally->jobs[static_cast<std::size_t>(shm::JobState::kQueued)] +
                 tally->jobs[static_cast<std::size_t>(shm::JobState::kAdmitting)];
    }
    return static_cast<std::uint32_t>(waiting);
  }
  [[nodiscard]] bool is_draining() const { return life >= shm::EngineLife::kDraining; }
};

}  // namespace vitrine::engine
