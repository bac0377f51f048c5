// SPDX-License-Identifier: Apache-2.0
// The thread that shows that the engine lives, and looks at what no change reports.
//
// Threads: runs until stop() or its destructor.
// Cost: one beat every 100 ms; once a second one small change.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "engine/state.h"

namespace vitrine::engine {

class Heartbeat {
 public:
  explicit Heartbeat(EngineState& state);
  ~Heartbeat() { stop(); }
  void stop();
  // How often it has beaten. Stands when the state mutex cannot be had.
  [[nodiscard]] std::uint64_t beats() const { return beats_.load(std::memory_order_relaxed); }

 private:
  void run();
  // Resident memory, whether the segment still has its name, devices that do not answer, and when
  // jobs are expected to end.
  void sample();
  void publish_again();

  EngineState& state_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::string not_published_again_;  // why the last try failed
  std::atomic<std::uint64_t> beats_{0};
  std::thread thread_;
};

}  // namespace vitrine::engine
