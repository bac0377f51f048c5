// SPDX-License-Identifier: Apache-2.0
// Deadlines: a missed one is counted when it passes, and ends its job if that was asked for.
//
// Threads  inside a change.
// Cost     linear in the jobs that are not final.
#pragma once

#include <cstdint>

#include "engine/state.h"

namespace vitrine::engine {

// Counts the deadline once it has passed, for good.
void judge_deadline(Change& change, Job& job);

// The same for every job that is not final; stops those that are to end then (class timeout). The
// next deadline to come; zero: none.
std::uint64_t judge_deadlines(Change& change);

}  // namespace vitrine::engine
