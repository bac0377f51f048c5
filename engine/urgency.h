// SPDX-License-Identifier: Apache-2.0
// Urgency: the one order in which work is served, at every resource.
//
//   critical, then what has waited too long, then high, normal, low; within each the earlier
//   deadline (none last), then the older.
//
// Units    nanoseconds of CLOCK_MONOTONIC.
// Threads  pure functions.
// Why      what has waited for `starvation_limit` goes before everything but critical work, oldest
//          first, until one partition has started: so a stream of more urgent work delays any job
//          by a stated time only, and an old large job does not take the engine for itself
//          (docs/decisions/0012).
#pragma once

#include <cstdint>

#include "shm/words.h"

namespace vitrine::engine {

struct UrgencyFacts {
  shm::Priority priority = shm::Priority::kNormal;
  std::uint64_t deadline_ns = 0;       // zero: none
  std::uint64_t submitted_ns = 0;      // its age
  std::uint64_t waiting_since_ns = 0;  // for the resource asked for
};

// The moment at which urgency is asked for.
struct UrgencyClock {
  std::uint64_t now_ns = 0;
  std::uint64_t starvation_limit_ns = 0;  // zero: no wait is too long
};

struct Urgency {
  std::uint32_t level = 0;  // the larger first
  std::uint64_t deadline_ns = 0;
  std::uint64_t submitted_ns = 0;

  [[nodiscard]] bool comes_before(const Urgency& other) const;
};

[[nodiscard]] Urgency urgency_of(const UrgencyFacts& facts, const UrgencyClock& clock);
// The same as if it had not waited too long.
[[nodiscard]] Urgency plain_urgency_of(const UrgencyFacts& facts);

// When it will have waited too long; zero: never.
[[nodiscard]] std::uint64_t overdue_at_ns(const UrgencyFacts& facts, const UrgencyClock& clock);
[[nodiscard]] bool is_overdue(const UrgencyFacts& facts, const UrgencyClock& clock);

}  // namespace vitrine::engine
