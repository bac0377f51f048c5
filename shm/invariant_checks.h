// SPDX-License-Identifier: Apache-2.0
// The single checks behind check_invariants(): each appends what it finds wrong.
#pragma once

#include <string>
#include <vector>

#include "shm/snapshot.h"

namespace vitrine::shm {

using Violations = std::vector<std::string>;

// Over one snapshot.
void check_counters(const Snapshot& snapshot, Violations& out);  // I1
void check_workers(const Snapshot& snapshot, Violations& out);   // I2
void check_jobs(const Snapshot& snapshot, Violations& out);      // I3
void check_memory(const Snapshot& snapshot, Violations& out);    // I4
void check_numbers(const Snapshot& snapshot, Violations& out);   // I4: none >= 2^63
void check_waiting(const Snapshot& snapshot, Violations& out);   // I5
void check_times(const Snapshot& snapshot, Violations& out);     // I6
void check_stamps(const Snapshot& snapshot, Violations& out);    // I7

// From an earlier to a later snapshot of one incarnation: I3 (done), I7, I8.
void check_growth(const Snapshot& earlier, const Snapshot& later, Violations& out);

}  // namespace vitrine::shm
