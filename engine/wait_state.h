// SPDX-License-Identifier: Apache-2.0
// What an item that is neither running nor final waits for (invariant I5).
#pragma once

#include <cstdint>

#include "shm/field.h"
#include "shm/words.h"

namespace vitrine::engine {

struct WaitState {
  shm::WaitReason reason = shm::WaitReason::kNone;
  shm::Instant since;
  std::uint64_t needs_bytes = 0;      // for memory
  std::uint64_t available_bytes = 0;  // for memory: free when the wait began

  // True when it waits for something else from now on. The same wait keeps its beginning.
  bool turn_to(const WaitState& next) {
    if (reason == next.reason && needs_bytes == next.needs_bytes) return false;
    *this = next;
    return true;
  }
  void end() { *this = WaitState{}; }
};

}  // namespace vitrine::engine
