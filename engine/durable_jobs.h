// SPDX-License-Identifier: Apache-2.0
// The steps of a job's life that the job store has a part in. A store that is absent makes them all
// shorter: a job is queued when it is received and final when it ends.
//
//   received -> (on disk) -> queued -> ... -> running -> assembling -> (end on disk) -> done
//                                                  '-----------------> (end on disk) -> failed ...
//
// Threads  inside a change; the store's own thread brings the reports.
// Why      docs/decisions/0010-durable-jobs.md: nothing runs before it is durable, and nothing is
//          shown as ended before its end is.
#pragma once

#include "engine/state.h"

namespace vitrine::engine {

struct JobEnd;
struct StoredJob;
struct StoreReport;

// What somebody waits for goes to the store this way: the row of its thread shows since when.
void give_to_store(Change& change, StoredJob job);
void give_to_store(Change& change, JobEnd end);

// A job that was just received goes to the store.
void put_job(Change& change, Job& job);
// An engine is at the job from now on. A job that was taken up again does not begin before the
// store has that: it may be what its engines die of.
void put_run(Change& change, Job& job);
// How it ends goes to the store: all its partitions are final. It cannot be stopped any more.
void put_end(Change& change, Job& job, shm::JobState end);
void take_report(Change& change, const StoreReport& report);

// Leaves a job for the engine that comes after this one: what waits does not start, what runs is
// stopped and queued again. Requires: it is in the store, and neither ending nor stopped already.
void set_aside(Change& change, Job& job);
// True of a job that was set aside and has nothing in a stage's hands.
[[nodiscard]] bool is_left(const Job& job);
// The last partition of a job that was set aside has been stopped.
void queue_again(Change& change, Job& job);

}  // namespace vitrine::engine
