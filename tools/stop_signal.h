// SPDX-License-Identifier: Apache-2.0
// Waits that end early when the person or the system asks the program to stop.
//
// Why   blocked signals taken by sigtimedwait need no handler and no global, and none is lost
//       between two waits.
#pragma once

#include <csignal>
#include <cstdint>

namespace vitrine::tools {

// While it lives SIGINT, SIGTERM and SIGHUP do not end the process; one that was ignored when the
// program started (nohup, a shell's background) stays ignored. One at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // Waits for `duration_ns`; true when a signal to stop came before, now or in an earlier wait.
  bool wait(std::uint64_t duration_ns);

 private:
  sigset_t signals_;
  sigset_t before_;
  bool was_raised_ = false;
};

}  // namespace vitrine::tools
