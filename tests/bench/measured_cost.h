// SPDX-License-Identifier: Apache-2.0
// measure(): what one operation costs: mean, median, 99th percentile.
//
// Method   in windows of some 200 us. Each begins with a batch of operations that is timed as one
//          (mean: the mean of the batches; typical: their median), then times operations one by
//          one (p50, p99) less the clock's own cost. A window counts only when the kernel took
//          the core away from this thread for nobody, and when the companion ran meanwhile: what
//          other programs do on the machine is not measured.
// Units    nanoseconds.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/bench/companion.h"
#include "tests/bench/tick_clock.h"

namespace vitrine::bench {

struct Plan {
  unsigned windows = 100;                // that count
  std::uint64_t limit_ns = 400'000'000;  // whatever was measured by then
  std::uint64_t window_ns = 200'000;
  unsigned batch = 256;       // 0: the mean is that of single operations
  std::uint64_t pace_ns = 0;  // between the beginnings of two operations; 0: none
};

struct Cost {
  std::vector<double> singles;
  std::vector<double> batches;  // per operation
  unsigned windows = 0;
  unsigned windows_kept = 0;

  static double quantile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    const auto at = values.begin() +
                    static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
  }
  static double mean(const std::vector<double>& values) {
    if (values.empty()) return 0;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  boost::json::object to_json() const {
    const std::vector<double>& amortised = batches.empty() ? singles : batches;
    if (singles.empty()) return {{"windows", windows}, {"windows_kept", 0}};
    return {{"mean", mean(amortised)},       {"typical", quantile(amortised, 0.5)},
            {"p50", quantile(singles, 0.5)}, {"p99", quantile(singles, 0.99)},
            {"samples", singles.size()},     {"windows", windows},
            {"windows_kept", windows_kept}};
  }
};

inline long times_preempted() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

namespace detail {

template <class Operation>
void fill_window(const TickClock& clock, const Plan& plan, Operation& operation, Cost& window) {
  if (plan.batch > 0) {
    const std::uint64_t begin = TickClock::now();
    for (unsigned i = 0; i < plan.batch; ++i) operation();
    window.batches.push_back(clock.ns_of(TickClock::now() - begin) / plan.batch);
  }
  std::uint64_t due_ns = shm::monotonic_ns();
  const std::uint64_t end_ns = due_ns + plan.window_ns;
  do {
    constexpr unsigned kLooksAtTheTime = 16;  // per look, to keep looking out of the way
    for (unsigned i = 0; i < (plan.pace_ns > 0 ? 1 : kLooksAtTheTime); ++i) {
      while (plan.pace_ns > 0 && shm::monotonic_ns() < due_ns) {
      }
      due_ns += plan.pace_ns;
      const std::uint64_t begin = TickClock::now();
      operation();
      const double cost_ns = clock.ns_of(TickClock::now() - begin);
      window.singles.push_back(cost_ns);
      if (cost_ns > static_cast<double>(plan.window_ns)) return;
    }
  } while (shm::monotonic_ns() < end_ns);
}

}  // namespace detail

template <class Operation>
Cost measure(const TickClock& clock, const Plan& plan, Operation&& operation,
             const Companion* beside = nullptr) {
  pin_to_core(0);
  Cost total;
  Cost window;
  const std::uint64_t end_ns = shm::monotonic_ns() + plan.limit_ns;
  while (total.windows_kept < plan.windows && shm::monotonic_ns() < end_ns) {
    window.singles.clear();
    window.batches.clear();
    const long preempted = times_preempted();
    const std::uint64_t rounds = beside != nullptr ? beside->rounds() : 0;
    detail::fill_window(clock, plan, operation, window);
    ++total.windows;
    if (times_preempted() != preempted) continue;
    if (beside != nullptr && beside->rounds() == rounds) continue;
    ++total.windows_kept;
    total.singles.insert(total.singles.end(), window.singles.begin(), window.singles.end());
    total.batches.insert(total.batches.end(), window.batches.begin(), window.batches.end());
  }
  return total;
}

}  // namespace vitrine::bench
