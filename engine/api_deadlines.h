// SPDX-License-Identifier: Apache-2.0
// Ends connections whose request does not arrive: from its opening, and from each answer, a
// connection has a limited time until the next whole head.
//
// Threads: any; a thread of its own looks for late ones until destroyed. A descriptor is known only
// while the server library has it open.
// Why: the library times idleness only, so a client that sends a byte now and then would keep its
// place for ever.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace vitrine::engine {

class ApiDeadlines {
 public:
  explicit ApiDeadlines(std::chrono::milliseconds head_patience);
  ~ApiDeadlines();
  ApiDeadlines(const ApiDeadlines&) = delete;
  ApiDeadlines& operator=(const ApiDeadlines&) = delete;

  // Opened, or answered: waits for a head from now on.
  void await_head(int descriptor);
  // The head is there: the request has the time it needs.
  void head_arrived(int descriptor);
  void closed(int descriptor) { head_arrived(descriptor); }

 private:
  using Clock = std::chrono::steady_clock;
  void run();

  const std::chrono::milliseconds head_patience_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::map<int, Clock::time_point> deadlines_;
  std::thread thread_;
};

}  // namespace vitrine::engine
