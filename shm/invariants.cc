// SPDX-License-Identifier: Apache-2.0
#include "shm/invariants.h"

#include "shm/invariant_checks.h"

namespace vitrine::shm {

std::vector<std::string> check_invariants(const Snapshot& snapshot, const Snapshot* previous) {
  Violations violations;
  if (!snapshot.consistent) return violations;
  check_counters(snapshot, violations);
  check_workers(snapshot, violations);
  check_jobs(snapshot, violations);
  check_memory(snapshot, violations);
  check_numbers(snapshot, violations);
  check_waiting(snapshot, violations);
  check_times(snapshot, violations);
  check_stamps(snapshot, violations);
  if (previous != nullptr && previous->consistent &&
      previous->incarnation == snapshot.incarnation) {
    check_growth(*previous, snapshot, violations);
  }
  return violations;
}

}  // namespace vitrine::shm
