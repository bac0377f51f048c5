// SPDX-License-Identifier: Apache-2.0
// What the HTTP server has done so far: answers by status, and connections.
//
// Threads  any; single relaxed atomics, since the numbers need not agree with each other.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace vitrine::exporters {

class HttpActivity {
 public:
  // The statuses that are counted apart.
  static constexpr std::array kStatuses = {200, 400, 403, 404, 405, 421, 503};

  void answered(int status) {
    std::size_t place = 0;
    while (place < kStatuses.size() && kStatuses[place] != status) ++place;
    answers_[place].fetch_add(1, std::memory_order_relaxed);
  }
  void opened() {
    accepted_.fetch_add(1, std::memory_order_relaxed);
    open_.fetch_add(1, std::memory_order_relaxed);
  }
  void closed() { open_.fetch_sub(1, std::memory_order_relaxed); }

  // Answers of kStatuses[place]; of every other status at the place behind the last.
  std::uint64_t answers(std::size_t place) const {
    return answers_[place].load(std::memory_order_relaxed);
  }
  std::uint64_t connections_open() const { return open_.load(std::memory_order_relaxed); }
  std::uint64_t connections_accepted() const { return accepted_.load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<std::uint64_t>, kStatuses.size() + 1> answers_{};
  std::atomic<std::uint64_t> open_{0};
  std::atomic<std::uint64_t> accepted_{0};
};

}  // namespace vitrine::exporters
