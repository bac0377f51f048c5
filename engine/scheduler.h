// SPDX-License-Identifier: Apache-2.0
// The scheduler: which keys to load and which partitions to start, now.
//
// Order    jobs in the order given (age). One that waits for a key steps aside; the first that
//          waits for memory, a synthesis slot or room before the devices closes the line, so
//          nothing overtakes a large request and nothing starves.
// Threads  a pure function: no clock, thread or device inside.
// Why      the same facts always give the same decision, so the rules are tested as a table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shm/words.h"

namespace vitrine::engine {

enum class KeyPresence { kAbsent, kLoading, kReady };

struct CircuitDemand {
  KeyPresence key = KeyPresence::kAbsent;
  std::uint64_t key_bytes = 0;        // SRS and PCE
  std::uint64_t partition_bytes = 0;  // working memory of one partition
};

struct JobDemand {
  std::uint32_t circuit = 0;  // index into SchedulerView::circuits
  std::uint32_t pending = 0;  // partitions not started, at least 1
};

struct SchedulerView {
  std::span<const CircuitDemand> circuits;
  std::span<const JobDemand> jobs;  // oldest first
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;
  std::uint32_t synthesis_slots = 0;  // free now
  std::uint32_t device_room = 0;      // places before the devices not spoken for
  enum class Gate { kOpen, kPaused } gate = Gate::kOpen;
};

struct JobPlan {
  enum class Turn {
    kBehind,   // others come first
    kNext,     // waits for `wait`
    kStarted,  // `starts` partitions begin now; the rest waits for `wait`
    kCannotFit
  };
  Turn turn = Turn::kBehind;
  std::uint32_t starts = 0;
  shm::WaitReason wait = shm::WaitReason::kNone;  // kNone only when nothing is left pending
  std::uint64_t needs_bytes = 0;
};

struct Plan {
  std::vector<JobPlan> jobs;         // one for each job of the view
  std::vector<std::uint32_t> loads;  // circuits whose key is to be loaded now
};

// Whether the key of circuit `number` fits beside those that are there or coming. Keys stay once
// loaded, so each must leave room for the largest partition of all of them.
[[nodiscard]] bool key_fits(std::span<const CircuitDemand> circuits, std::uint32_t number,
                            std::uint64_t total_bytes);

// Fills `plan`; its memory is used again.
void make_plan(const SchedulerView& view, Plan& plan);

}  // namespace vitrine::engine
