// SPDX-License-Identifier: Apache-2.0
// KeyAllocation: one of the two things that a proving key is kept as, its points (the SRS) or its
// constraint matrices (the PCE): how far it is, what it holds, how often it was of use.
//
//   absent -> loading -> ready -> evicting -> absent
//                 |----> corrupt
//                 '----> absent
//
// Threads: the engine's state mutex is held around every call.
// Why: both are states of the same kind, so neither can forget a step that the other takes.
#pragma once

#include <cstdint>

#include "engine/memory_budget.h"
#include "shm/field.h"
#include "shm/words.h"

namespace vitrine::engine {

class KeyAllocation {
 public:
  [[nodiscard]] shm::AllocationState state() const { return state_; }
  [[nodiscard]] bool is(shm::AllocationState state) const { return state_ == state; }
  [[nodiscard]] shm::Instant state_since() const { return state_since_; }
  [[nodiscard]] std::uint64_t reserved_bytes() const { return reserved_.bytes(); }
  // The part of `total_bytes` that is in memory.
  [[nodiscard]] std::uint64_t loaded_bytes(std::uint64_t total_bytes) const;
  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  [[nodiscard]] std::uint64_t misses() const { return misses_; }
  [[nodiscard]] std::uint64_t loads() const { return loads_; }
  [[nodiscard]] std::uint64_t evictions() const { return evictions_; }

  // At the start of the engine: absent, or what is known of the file without loading it.
  void settle(shm::AllocationState state, shm::Instant now) { enter(state, now); }

  void begin_load(Reservation reserved, shm::Instant now);
  void progress(std::uint64_t done_bytes, std::uint64_t total_bytes);
  // No effect when it is ready.
  void finish_load(shm::Instant now);
  void fail_load(shm::AllocationState state, shm::Instant now);
  void begin_eviction(shm::Instant now);
  // Its memory is free: its bytes go back.
  void finish_eviction(shm::Instant now);

  void count_hit() { ++hits_; }
  void count_miss() { ++misses_; }

 private:
  void enter(shm::AllocationState state, shm::Instant now);

  shm::AllocationState state_ = shm::AllocationState::kAbsent;
  shm::Instant state_since_;
  Reservation reserved_;
  std::uint64_t file_done_bytes_ = 0, file_total_bytes_ = 0;
  std::uint64_t hits_ = 0, misses_ = 0, loads_ = 0, evictions_ = 0;
};

}  // namespace vitrine::engine
