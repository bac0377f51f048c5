// SPDX-License-Identifier: Apache-2.0
#include "engine/urgency.h"

#include <limits>

namespace vitrine::engine {
namespace {

constexpr std::uint64_t kNoDeadline = std::numeric_limits<std::uint64_t>::max();
constexpr auto kOverdueLevel = static_cast<std::uint32_t>(shm::Priority::kCritical);
constexpr std::uint32_t kCriticalLevel = kOverdueLevel + 1;

}  // namespace

bool Urgency::comes_before(const Urgency& other) const {
  if (level != other.level) return level > other.level;
  if (deadline_ns != other.deadline_ns) return deadline_ns < other.deadline_ns;
  return submitted_ns < other.submitted_ns;
}

Urgency plain_urgency_of(const UrgencyFacts& facts) {
  const bool is_critical = facts.priority == shm::Priority::kCritical;
  return {is_critical ? kCriticalLevel : static_cast<std::uint32_t>(facts.priority),
          facts.deadline_ns == 0 ? kNoDeadline : facts.deadline_ns, facts.submitted_ns};
}

Urgency urgency_of(const UrgencyFacts& facts, const UrgencyClock& clock) {
  if (!is_overdue(facts, clock)) return plain_urgency_of(facts);
  return {kOverdueLevel, kNoDeadline, facts.submitted_ns};
}

std::uint64_t overdue_at_ns(const UrgencyFacts& facts, const UrgencyClock& clock) {
  if (clock.starvation_limit_ns == 0 || facts.priority == shm::Priority::kCritical) return 0;
  return facts.waiting_since_ns + clock.starvation_limit_ns;
}

bool is_overdue(const UrgencyFacts& facts, const UrgencyClock& clock) {
  const std::uint64_t at_ns = overdue_at_ns(facts, clock);
  return at_ns != 0 && at_ns <= clock.now_ns;
}

}  // namespace vitrine::engine
