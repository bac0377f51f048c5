// SPDX-License-Identifier: Apache-2.0
// What each thread of the engine is at, and since when: how a hang is told from long work, and what
// a crash struck.
//
// Threads: ThreadState is guarded by the engine's state mutex; take_step() is called by the thread
// itself, since it also tells the signal handler (last_words.h) what this thread has in hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shm/field.h"

namespace vitrine::engine {

class Change;
struct Partition;

struct ThreadState {
  std::string name;
  std::string_view step = "waiting";
  shm::Instant since;
  std::uint64_t limit_ns = 0;  // longest that the step may take; zero: no limit
  std::uint64_t beats = 0;     // steps begun
  std::uint64_t job = 0;       // zero: none in hand
  std::optional<std::uint32_t> partition;
  std::optional<std::uint32_t> worker;  // that the thread is
};

// Row in EngineModel::threads and in the status plane.
using ThreadRow = std::uint32_t;

struct LimitedWork {
  const Partition* in_hand;
  std::uint64_t own_limit_ns;
};

// The calling thread begins a step; with nothing in hand it waits, which has no limit. `step` is a
// literal.
void take_step(Change& change, ThreadRow row, std::string_view step, const Partition* in_hand);
// A step whose end the engine sees to itself, within `own_limit_ns`.
void take_limited_step(Change& change, ThreadRow row, std::string_view step,
                       const LimitedWork& work);
void wait_for_work(Change& change, ThreadRow row);

// The same of a thread that makes no change of its own: whoever gives it work says what it is at.
void give_step(Change& change, ThreadRow row, std::string_view step);
void take_back_step(Change& change, ThreadRow row);

}  // namespace vitrine::engine
