// SPDX-License-Identifier: Apache-2.0
#include "tools/stop_signal.h"

#include <cerrno>
#include <ctime>
#include <initializer_list>

namespace vitrine::tools {

StopSignal::StopSignal() {
  sigemptyset(&signals_);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&signals_, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

StopSignal::~StopSignal() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool StopSignal::wait(std::uint64_t duration_ns) {
  if (was_raised_) return true;
  const timespec duration{static_cast<time_t>(duration_ns / 1'000'000'000),
                          static_cast<long>(duration_ns % 1'000'000'000)};
  // A wait cut short by a stopped and continued process (EINTR) ends early, which no caller minds.
  was_raised_ = sigtimedwait(&signals_, nullptr, &duration) > 0;
  return was_raised_;
}

}  // namespace vitrine::tools
