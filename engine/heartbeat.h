// SPDX-License-Identifier: Apache-2.0
// The thread that shows that the engine lives, and looks at what no change reports.
//
// Threads: runs until stop() or its destructor.
// Cost: one beat every 100 ms; once a second one small change.
#pragma once

#include <condition_variable>
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

 private:
  void run();
  // Resident memory, whether the segment still has its name, and devices that do not answer.
  void sample();
  void publish_again();

  EngineState& state_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::string not_published_again_;  // why the last try failed
  std::thread thread_;
};

}  // namespace vitrine::engine
