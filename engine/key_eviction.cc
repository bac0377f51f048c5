// SPDX-License-Identifier: Apache-2.0
#include "engine/key_eviction.h"

#include <algorithm>
#include <tuple>

#include "engine/scheduler_line.h"

namespace vitrine::engine {

KeyEviction::KeyEviction(const SchedulerView& view, Plan& plan)
    : view_(view),
      plan_(plan),
      claimed_(view.circuits.size(), false),
      is_needed_(view.circuits.size(), false) {
  for (const JobDemand& job : view.jobs) is_needed_.at(job.circuit) = true;
  for (const CircuitDemand& circuit : view.circuits) {
    const bool is_leaving = circuit.key == KeyPresence::kLeaving && circuit.references == 0;
    if (is_leaving) leaving_bytes_ += circuit.key_bytes;
  }
}

bool KeyEviction::is_candidate(std::uint32_t number, std::uint32_t circuit) const {
  const CircuitDemand& other = view_.circuits[number];
  const bool is_unused = other.key == KeyPresence::kReady && other.references == 0;
  const bool is_chosen =
      std::find(plan_.evictions.begin(), plan_.evictions.end(), number) != plan_.evictions.end();
  return is_unused && number != circuit && !other.is_kept && !claimed_[number] && !is_chosen &&
         other.key_bytes > 0;
}

void KeyEviction::make_room(std::uint64_t bytes, std::uint32_t circuit) {
  if (bytes <= leaving_bytes_) return;
  std::uint64_t missing_bytes = bytes - leaving_bytes_;
  candidates_.clear();
  for (std::uint32_t number = 0; number < view_.circuits.size(); ++number) {
    if (is_candidate(number, circuit)) candidates_.push_back(number);
  }
  const auto rank = [&](std::uint32_t number) {
    const std::uint64_t old_enough_ns =
        view_.circuits[number].idle_since_ns + view_.rules.eviction_min_idle_ns;
    const bool is_young = old_enough_ns > view_.now_ns;
    return std::tuple(is_young ? old_enough_ns : 0, static_cast<bool>(is_needed_[number]),
                      view_.circuits[number].idle_since_ns, number);
  };
  std::sort(candidates_.begin(), candidates_.end(),
            [&](std::uint32_t one, std::uint32_t other) { return rank(one) < rank(other); });
  for (std::size_t chosen = 0; chosen < candidates_.size(); ++chosen) {
    const std::uint64_t key_bytes = view_.circuits[candidates_[chosen]].key_bytes;
    if (key_bytes < missing_bytes) {
      missing_bytes -= key_bytes;
      continue;
    }
    // They suffice; the last of them is the youngest.
    const std::uint64_t old_enough_ns = std::get<0>(rank(candidates_[chosen]));
    if (old_enough_ns > view_.now_ns) {
      plan_.wake_at_ns = earlier_ns(plan_.wake_at_ns, old_enough_ns);
      return;
    }
    for (std::size_t i = 0; i <= chosen; ++i) {
      plan_.evictions.push_back(candidates_[i]);
      leaving_bytes_ += view_.circuits[candidates_[i]].key_bytes;
    }
    return;
  }
}

}  // namespace vitrine::engine
