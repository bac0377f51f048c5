// SPDX-License-Identifier: Apache-2.0
// What the service manager hears of a running engine: ready, what it is at, and that it still goes.
//
// Threads  one, but for ready() and reloading(), which any may call.
// Crash    a manager with WatchdogSec= restarts a service that it does not hear from.
// Why      the watchdog is fed as long as the heart beats, which takes the state mutex: an engine
//          whose state is stuck is silent, though this thread is not.
// Source   sd_notify(3), sd_watchdog_enabled(3).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/engine.h"

namespace vitrine::engine {

class ServiceReports {
 public:
  using Clock = std::chrono::steady_clock;

  // Reads $WATCHDOG_USEC and $WATCHDOG_PID.
  ServiceReports();

  void ready();
  // A reload begins; ready() ends it. Each has its own pair, whoever asked for it.
  void reloading();
  // `patience_us`: longest that the drain takes.
  void stopping(std::uint64_t patience_us);
  // To be called every 100 ms or so: feeds the watchdog, and renews the status line (the
  // verdict, then counts) when it differs. Never waits for the engine.
  void renew(Engine& engine, Clock::time_point now);

 private:
  std::optional<Clock::duration> watchdog_;  // longest silence that is allowed
  Clock::time_point fed_, told_;
  std::uint64_t fed_for_ = 0;  // beat of the heart
  std::string status_;
  std::atomic<bool> is_stopping_{false};
};

}  // namespace vitrine::engine
