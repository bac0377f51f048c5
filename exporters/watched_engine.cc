// SPDX-License-Identifier: Apache-2.0
#include "exporters/watched_engine.h"

#include <algorithm>

#include "shm/clock.h"

namespace vitrine::exporters {

WatchedEngine::WatchedEngine(const shm::Target& target, std::uint64_t interval_ns)
    : interval_ns_(interval_ns), attachment_(target) {}

bool is_gone(const shm::Observation& observation) {
  return !observation.snapshot || (!shm::is_alive(observation.verdict.word) &&
                                   observation.verdict.word != shm::VerdictWord::kHung);
}

const shm::Observation& WatchedEngine::look(std::uint64_t now_ns) {
  const shm::Observation& observation = attachment_.observe();
  ++statistics_.looks;
  statistics_.duration_ns += shm::monotonic_ns() - now_ns;
  if (observation.error) ++statistics_.failures;
  const bool is_new = observation.snapshot && observation.snapshot->taken_monotonic_ns >= now_ns;
  if (is_new) {
    statistics_.retries += observation.snapshot->tries - std::min(observation.snapshot->tries, 1u);
    if (!observation.snapshot->consistent) ++statistics_.inconsistent;
  }
  return observation;
}

std::shared_ptr<const Moment> WatchedEngine::moment() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t now_ns = shm::monotonic_ns();
  if (latest_ == nullptr || now_ns - observed_ns_ >= interval_ns_) {
    auto next = std::make_shared<Moment>();
    next->number = latest_ == nullptr ? 1 : latest_->number + 1;
    next->observation = look(now_ns);
    next->statistics = statistics_;
    latest_ = std::move(next);
    observed_ns_ = now_ns;
  }
  return latest_;
}

}  // namespace vitrine::exporters
