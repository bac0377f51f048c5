// SPDX-License-Identifier: Apache-2.0
// TickClock: the finest clock of the machine, for single operations of a few nanoseconds.
//
// Units    ticks; ns_of() makes nanoseconds of a difference, less what one reading costs.
// Cost     some 10 ns a reading. `overhead` is the median of many pairs of readings with nothing
//          between them, and is taken off every difference.
// Why      a fence on both sides of the reading keeps the measured loads and stores inside; that
//          a store leaves the core later is not the caller's time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "shm/clock.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace vitrine::bench {

class TickClock {
 public:
  TickClock() : ns_per_tick_(calibrate()), overhead_(median_of_nothing()) {}

  static std::uint64_t now() {
#if defined(__x86_64__)
    _mm_lfence();
    const std::uint64_t ticks = __rdtsc();
    _mm_lfence();
    return ticks;
#else
    return shm::monotonic_ns();
#endif
  }

  double ns_of(std::uint64_t ticks) const {
    return ticks <= overhead_ ? 0 : static_cast<double>(ticks - overhead_) * ns_per_tick_;
  }

 private:
  static double calibrate() {
    constexpr std::uint64_t kSpanNs = 50'000'000;
    const std::uint64_t begin_ns = shm::monotonic_ns();
    const std::uint64_t begin = now();
    while (shm::monotonic_ns() - begin_ns < kSpanNs) {
    }
    const std::uint64_t ticks = now() - begin;
    return static_cast<double>(shm::monotonic_ns() - begin_ns) / static_cast<double>(ticks);
  }
  static std::uint64_t median_of_nothing() {
    std::vector<std::uint64_t> pairs(10'001);
    for (std::uint64_t& ticks : pairs) {
      const std::uint64_t begin = now();
      ticks = now() - begin;
    }
    std::nth_element(pairs.begin(), pairs.begin() + 5'000, pairs.end());
    return pairs[5'000];
  }

  double ns_per_tick_;
  std::uint64_t overhead_;
};

}  // namespace vitrine::bench
