// SPDX-License-Identifier: Apache-2.0
// The invariants of the state (I1..I9), as far as snapshots can show them; asserted on every
// consistent snapshot by the tests and `vitrine doctor`.
//
// I1  submitted = waiting + active + final, in each row of counters, and job rows agree
// I2  a busy worker's job exists, is active and lists that worker; a partition on a device has
//     exactly one worker
// I3  partitions by stage add up; done never falls within an attempt; a failed job has a cause
// I4  reserved <= budget; by consumer and by owner it adds up; no number below zero or >= 2^63
// I5  whatever waits says for what and since when, and for memory how much
// I6  times of a job and of a partition are in order
// I7  commit, events, stamps and the heartbeat only grow; no row is newer than the commit
// I8  counters never fall within an incarnation
// I9  when quiet: nothing active, held or queued; every worker idle for the reason no_work
#pragma once

#include <string>
#include <vector>

#include "shm/snapshot.h"

namespace vitrine::shm {

// Violations of I1..I8, each as "I3: job 7 ..."; empty when all hold. `previous` is an earlier
// snapshot of the same or an earlier incarnation, or null. Snapshots that are not consistent have
// no violations.
std::vector<std::string> check_invariants(const Snapshot& snapshot, const Snapshot* previous);

// Violations of I9, for an engine that has had no work for a while.
std::vector<std::string> check_quiet(const Snapshot& snapshot);

}  // namespace vitrine::shm
