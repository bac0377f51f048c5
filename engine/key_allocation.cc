// SPDX-License-Identifier: Apache-2.0
#include "engine/key_allocation.h"

#include <cassert>
#include <utility>

namespace vitrine::engine {

using shm::AllocationState;

std::uint64_t KeyAllocation::loaded_bytes(std::uint64_t total_bytes) const {
  if (state_ == AllocationState::kReady) return total_bytes;
  if (file_total_bytes_ == 0) return 0;
  const double share =
      static_cast<double>(file_done_bytes_) / static_cast<double>(file_total_bytes_);
  return static_cast<std::uint64_t>(static_cast<double>(total_bytes) * share);
}

void KeyAllocation::begin_load(Reservation reserved, shm::Instant now) {
  assert(state_ == AllocationState::kAbsent || state_ == AllocationState::kCorrupt);
  reserved_ = std::move(reserved);
  ++loads_;
  progress(0, 0);
  enter(AllocationState::kLoading, now);
}

void KeyAllocation::progress(std::uint64_t done_bytes, std::uint64_t total_bytes) {
  file_done_bytes_ = done_bytes;
  file_total_bytes_ = total_bytes;
}

void KeyAllocation::finish_load(shm::Instant now) {
  if (state_ == AllocationState::kReady) return;
  assert(state_ == AllocationState::kLoading);
  enter(AllocationState::kReady, now);
}

void KeyAllocation::fail_load(AllocationState state, shm::Instant now) {
  reserved_.give_back_all();
  progress(0, 0);
  enter(state, now);
}

void KeyAllocation::begin_eviction(shm::Instant now) {
  assert(state_ == AllocationState::kReady);
  file_done_bytes_ = file_total_bytes_;  // all of it is still there
  enter(AllocationState::kEvicting, now);
}

void KeyAllocation::finish_eviction(shm::Instant now) {
  assert(state_ == AllocationState::kEvicting);
  reserved_.give_back_all();
  progress(0, 0);
  ++evictions_;
  enter(AllocationState::kAbsent, now);
}

void KeyAllocation::enter(AllocationState state, shm::Instant now) {
  state_ = state;
  state_since_ = now;
}

}  // namespace vitrine::engine
