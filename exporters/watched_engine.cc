// SPDX-License-Identifier: Apache-2.0
#include "exporters/watched_engine.h"

#include "shm/clock.h"

namespace vitrine::exporters {

WatchedEngine::WatchedEngine(const shm::Target& target, std::uint64_t interval_ns)
    : interval_ns_(interval_ns), attachment_(target) {}

std::shared_ptr<const Moment> WatchedEngine::moment() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t now_ns = shm::monotonic_ns();
  if (latest_ == nullptr || now_ns - observed_ns_ >= interval_ns_) {
    auto next = std::make_shared<Moment>();
    next->number = latest_ == nullptr ? 1 : latest_->number + 1;
    next->observation = attachment_.observe();
    latest_ = std::move(next);
    observed_ns_ = now_ns;
  }
  return latest_;
}

}  // namespace vitrine::exporters
