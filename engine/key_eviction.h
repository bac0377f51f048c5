// SPDX-License-Identifier: Apache-2.0
// Which keys go when bytes are wanted: the longest unused of those that nobody needs first.
//
// Threads  a pure function of one plan.
// Why      a key is dropped only when dropping makes the room that is asked for: otherwise it would
//          be read again for nothing. One that a more urgent job waits with is not dropped.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/scheduler.h"

namespace vitrine::engine {

class KeyEviction {
 public:
  KeyEviction(const SchedulerView& view, Plan& plan);

  // The key of `circuit` is needed by a job that comes before all that follow.
  void claim(std::uint32_t circuit) { claimed_.at(circuit) = true; }

  // Wants `bytes` more than are free, for a job of `circuit`: adds to the plan's evictions, or says
  // when idle keys will be old enough.
  void make_room(std::uint64_t bytes, std::uint32_t circuit);

 private:
  [[nodiscard]] bool is_candidate(std::uint32_t number, std::uint32_t circuit) const;

  const SchedulerView& view_;
  Plan& plan_;
  std::uint64_t leaving_bytes_ = 0;  // that come back without more being dropped
  std::vector<bool> claimed_, is_needed_;
  std::vector<std::uint32_t> candidates_;
};

}  // namespace vitrine::engine
