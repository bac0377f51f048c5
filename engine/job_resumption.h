// SPDX-License-Identifier: Apache-2.0
// Takes up the jobs of engines before this one: each with the id it had, as one more attempt.
//
// Why  a job whose witnesses are gone, or whose circuit is, must end as lost with the reason; a job
//      that is not mentioned any more would have vanished.
#pragma once

#include <string>
#include <vector>

#include "engine/state.h"
#include "engine/stored_job.h"
#include "engine/witness_file.h"

namespace vitrine::engine {

class JobStore;
class Spool;

struct ResumedJob {
  StoredJob job;
  std::vector<WitnessFile> witnesses;
  std::string lost;  // why it cannot be done; empty when it can
};

// Every unfinished job of the store, oldest first; what is in the spool for none of them is
// removed. A job at which engines have died `deaths_max` times is lost; zero: never.
// Threads: the starting thread.
[[nodiscard]] Result<std::vector<ResumedJob>> take_up_jobs(JobStore& store, Spool& spool,
                                                           std::uint32_t deaths_max);

// What the model is to know of the store before the first job comes: the store itself and its
// request ids. The highest id that the store has.
[[nodiscard]] Result<JobId> know_store(EngineModel& model, JobStore& store);

// Gives it its rows and queues it, or ends it as lost. Threads: inside a change.
void resume_job(Change& change, ResumedJob resumed);

}  // namespace vitrine::engine
