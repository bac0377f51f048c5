// SPDX-License-Identifier: Apache-2.0
#include "exporters/counter_deltas.h"

namespace vitrine::exporters {

void CounterDeltas::begin_flush(const Incarnation& incarnation) {
  const bool is_first = attached_ == Attached::kNever;
  attached_ = is_first ? Attached::kNow : Attached::kBefore;
  if (!is_first && incarnation == incarnation_) return;
  incarnation_ = incarnation;
  last_.clear();
}

std::uint64_t CounterDeltas::take(const std::string& counter, std::uint64_t value) {
  const std::uint64_t unseen = attached_ == Attached::kNow ? value : 0;
  std::uint64_t& last = last_.try_emplace(counter, unseen).first->second;
  const std::uint64_t before = last;
  last = value;
  if (value >= before) return value - before;
  ++falls_;
  return 0;
}

}  // namespace vitrine::exporters
