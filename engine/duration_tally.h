// SPDX-License-Identifier: Apache-2.0
// DurationTally: how often something took how long.
#pragma once

#include <algorithm>
#include <cstdint>

#include "shm/field.h"

namespace vitrine::engine {

struct DurationTally {
  std::uint64_t count = 0, sum_ns = 0, max_ns = 0;
  shm::Histogram times;

  void add(std::uint64_t duration_ns) {
    ++count;
    sum_ns += duration_ns;
    max_ns = std::max(max_ns, duration_ns);
    times.add(duration_ns);
  }
};

}  // namespace vitrine::engine
