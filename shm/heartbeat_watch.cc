// SPDX-License-Identifier: Apache-2.0
#include "shm/heartbeat_watch.h"

#include <algorithm>

namespace vitrine::shm {

std::uint64_t credible_interval_ns(const Snapshot& snapshot) {
  constexpr std::uint64_t kLeastNs = 1'000'000;
  constexpr std::uint64_t kMostNs = 2'000'000'000;
  return std::clamp(snapshot.heartbeat_interval_ns, kLeastNs, kMostNs);
}

void HeartbeatWatch::observe(Snapshot& snapshot, std::uint64_t now_ns) {
  // A beat's time is read before its count is stored, so it may lie a little further back.
  constexpr std::uint64_t kSlackNs = 1'000'000'000;
  const bool is_same_engine = snapshot.incarnation == incarnation_;
  interval_ns_ = credible_interval_ns(snapshot);
  if (!is_same_engine || snapshot.heartbeat != count_) {
    // It beat after the look before this one: a greater age is a difference between clocks.
    if (!is_same_engine) clocks_differ_ = false;
    clocks_differ_ |= is_same_engine && snapshot.heartbeat_age_ns >
                                            snapshot.taken_monotonic_ns - last_taken_ns_ + kSlackNs;
    incarnation_ = snapshot.incarnation;
    count_ = snapshot.heartbeat;
    first_seen_ns_ = now_ns;
    stood_ns_ = 0;
  } else if (snapshot.taken_monotonic_ns > first_seen_ns_) {
    // From after the first look to before this one: a reader that was itself stopped in either
    // look makes the time shorter, never longer.
    stood_ns_ = snapshot.taken_monotonic_ns - first_seen_ns_;
  }
  last_taken_ns_ = snapshot.taken_monotonic_ns;
  if (clocks_differ_) snapshot.heartbeat_age_ns = stood_ns_;
}

}  // namespace vitrine::shm
