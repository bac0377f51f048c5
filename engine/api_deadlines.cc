// SPDX-License-Identifier: Apache-2.0
#include "engine/api_deadlines.h"

#include <sys/socket.h>

namespace vitrine::engine {

ApiDeadlines::ApiDeadlines(std::chrono::milliseconds head_patience)
    : head_patience_(head_patience), thread_([this] { run(); }) {}

ApiDeadlines::~ApiDeadlines() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

void ApiDeadlines::await_head(int descriptor) {
  const std::lock_guard lock(mutex_);
  deadlines_[descriptor] = Clock::now() + head_patience_;
}

void ApiDeadlines::head_arrived(int descriptor) {
  const std::lock_guard lock(mutex_);
  deadlines_.erase(descriptor);
}

void ApiDeadlines::run() {
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, head_patience_ / 4, [this] { return stopping_; })) {
    const Clock::time_point now = Clock::now();
    for (const auto& [descriptor, deadline] : deadlines_) {
      if (deadline < now) ::shutdown(descriptor, SHUT_RDWR);
    }
  }
}

}  // namespace vitrine::engine
