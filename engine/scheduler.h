// SPDX-License-Identifier: Apache-2.0
// The scheduler: which keys to load or evict and which partitions to start, now.
//
// Order    by urgency (urgency.h); jobs of a batch together. One that waits for a key steps aside;
//          the first that waits for memory, a synthesis slot or room before the devices closes the
//          line, so nothing less urgent overtakes a large request.
// Units    bytes, and nanoseconds of CLOCK_MONOTONIC.
// Threads  a pure function: no clock, thread or device inside.
// Cost     a sort of the jobs that have partitions to start.
// Why      the same facts always give the same decision, so the rules are tested as a table, and
//          the simulator (simulation.h) decides as the engine does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/urgency.h"
#include "shm/words.h"

namespace vitrine::engine {

// kLeaving: it is being dropped; its bytes are still taken.
enum class KeyPresence { kAbsent, kLoading, kReady, kLeaving };

struct CircuitDemand {
  KeyPresence key = KeyPresence::kAbsent;
  std::uint64_t key_bytes = 0;        // SRS and PCE
  std::uint64_t partition_bytes = 0;  // working memory of one partition
  std::uint32_t references = 0;       // partitions that use the key
  std::uint64_t idle_since_ns = 0;    // without references
  bool is_kept = false;               // never evicted
  bool is_wanted = false;             // to be loaded though no job asks for it
};

struct JobDemand {
  std::uint32_t circuit = 0;  // index into SchedulerView::circuits
  std::uint32_t pending = 0;  // partitions not started, at least 1
  UrgencyFacts urgency{};
  std::uint64_t batch = 0;  // that it was collected into; zero: none
};

struct SchedulerRules {
  std::uint64_t starvation_limit_ns = 0;   // zero: off
  std::uint64_t eviction_min_idle_ns = 0;  // a key that was used later is not evicted
  std::uint32_t max_batch_size = 1;        // 1: jobs are not collected
  std::uint64_t max_batch_wait_ns = 0;     // of the oldest job of a batch
};

struct SchedulerView {
  std::span<const CircuitDemand> circuits;
  std::span<const JobDemand> jobs;  // of equal urgency, the first first
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;
  std::uint32_t synthesis_slots = 0;  // free now
  std::uint32_t device_room = 0;      // places before the devices not spoken for
  enum class Gate { kOpen, kPaused } gate = Gate::kOpen;
  std::uint32_t critical_room = 0;     // more such places, for critical work only
  std::uint32_t loaders = 1;           // keys that may begin to load now
  std::uint32_t critical_loaders = 0;  // more of them, for critical work only
  std::uint64_t now_ns = 0;
  std::uint64_t last_batch = 0;  // numbers beyond it are free
  SchedulerRules rules{};
};

struct JobPlan {
  enum class Turn {
    kBehind,   // others come first
    kHeld,     // is collected into a batch
    kNext,     // waits for `wait`
    kStarted,  // `starts` partitions begin now; the rest waits for `wait`
    kCannotFit
  };
  Turn turn = Turn::kBehind;
  std::uint32_t starts = 0;
  shm::WaitReason wait = shm::WaitReason::kNone;  // kNone only when nothing is left pending
  std::uint64_t needs_bytes = 0;
  std::uint64_t batch = 0;  // that it is in from now on
};

// A place in the line: a job, or the one partition that an overdue job may start before the others.
struct LinePlace {
  std::uint32_t job = 0;
  std::uint32_t most = 0;  // partitions that may start from here
  std::uint64_t batch = 0;
  Urgency unit;  // of the most urgent of its batch
  Urgency own;
};

struct Plan {
  std::vector<JobPlan> jobs;  // one for each job of the view
  struct Start {
    std::uint32_t job = 0;
    std::uint32_t partitions = 0;
  };
  std::vector<Start> starts;  // in the order in which they are to begin
  struct Load {
    std::uint32_t circuit = 0;
    std::optional<std::uint32_t> job;  // that it is for
  };
  std::vector<Load> loads;               // keys to be loaded now, most urgent first
  std::vector<std::uint32_t> evictions;  // circuits whose key is to be dropped now
  std::uint64_t wake_at_ns = 0;          // when time alone changes the decision; zero: it does not
  std::uint64_t last_batch = 0;

  std::vector<LinePlace> line;           // how the jobs stood
  std::vector<std::uint32_t> collected;  // memory of the batch collector
};

// Fills `plan`; its memory is used again.
void make_plan(const SchedulerView& view, Plan& plan);

}  // namespace vitrine::engine
