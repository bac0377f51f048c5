// SPDX-License-Identifier: Apache-2.0
// Companion: what runs beside the measured thread, again and again, on the other core.
//
// Threads  made and ended by the measured thread. Pins itself to the second core that the process
//          may use and the maker to the first, so that the two never share one.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace vitrine::bench {

// The number-th core that the process was given, as long as there are so many.
inline void pin_to_core(std::size_t number) {
  static const std::vector<int> cores = [] {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    std::vector<int> found;
    if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return found;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &allowed)) found.push_back(core);
    }
    return found;
  }();
  if (number >= cores.size()) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cores[number], &one);
  ::sched_setaffinity(0, sizeof(one), &one);
}

class Companion {
 public:
  template <class Body>
  explicit Companion(Body body) {
    pin_to_core(0);
    thread_ = std::thread([this, body = std::move(body)]() mutable {
      pin_to_core(1);
      for (std::uint64_t rounds = 1; !stopping_.load(std::memory_order_relaxed); ++rounds) {
        body();
        rounds_.store(rounds, std::memory_order_relaxed);
      }
    });
    while (rounds() == 0) std::this_thread::yield();
  }
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;
  ~Companion() {
    stopping_ = true;
    thread_.join();
  }

  // How often the body has run. Stands still while another program has the core.
  std::uint64_t rounds() const { return rounds_.load(std::memory_order_relaxed); }

 private:
  alignas(128) std::atomic<std::uint64_t> rounds_{0};
  alignas(128) std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace vitrine::bench
