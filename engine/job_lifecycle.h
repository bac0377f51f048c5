// SPDX-License-Identifier: Apache-2.0
// The life of a job and of its partitions: every transition there is, each a step of a change.
//
//   job        received -> queued -> admitting -> running -> assembling -> done
//                  '----------'----------'-----------'-----------'------> failed cancelled lost
//   partition  pending -> (granted) -> [witnessing ->] synthesizing -> gpu_queued -> gpu_proving ->
//   finishing -> done
//                  '----------'-------------'--------------'-------------'------------'-> failed
//                                                                                         cancelled
//
// Threads  inside a change.
//
// With a job store, a job is queued and becomes final only when the store has it (durable_jobs.h).
//
// Why      finish_partition and finish_job are the only ways to a final state; both give back all
//          that the item holds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/job_request.h"
#include "engine/state.h"

namespace vitrine::engine {

struct ResumedJob;

// The job that stands for a request which is not to make another one, or why it conflicts.
[[nodiscard]] std::optional<Reception> known_request(const EngineModel& model,
                                                     const JobRequest& request);
// That job, or a new one with rows; or a refusal, counted and shown. The request is used up only by
// a new job.
[[nodiscard]] Reception receive_job(Change& change, JobId id, JobRequest& request);
// A job of an engine before this one, received; it has no witnesses when it is lost.
Job& add_resumed_job(Change& change, Circuit& circuit, ResumedJob& resumed);
// The received job may start.
void queue_job(Change& change, Job& job);
// The received job never was.
void refuse_received_job(Change& change, Job& job, const std::string& why);
// Counts and shows a refusal of what never became a job.
void refuse(Change& change, JobId id, JobRequest& request, const Refusal& refusal);

// Why the job would be refused whatever its witnesses are; nothing when it would be looked at.
// Counts nothing.
[[nodiscard]] std::optional<Refusal> expected_refusal(const EngineModel& model,
                                                      const JobRequest& request);
// That refusal, counted and shown: of a job whose witnesses need not be taken in.
[[nodiscard]] std::optional<Refusal> refuse_in_advance(Change& change, JobId id,
                                                       JobRequest& request);

// The bytes are reserved and the key is there: the partition waits for a synthesis thread.
void grant_partition(Change& change, Partition& partition, Reservation reserved);
// Its witness is made from an input first.
void start_witnessing(Change& change, Partition& partition);
void start_synthesis(Change& change, Partition& partition);
void queue_for_device(Change& change, Partition& partition, std::unique_ptr<Synthesized> made);
// Hands the partition to the worker, with what synthesis made.
[[nodiscard]] std::unique_ptr<Synthesized> pick_up(Change& change, Partition& partition,
                                                   Worker& worker);
void start_kernels(Change& change, Partition& partition);
// a, b and c are gone; the second proving step begins.
void return_constraint_bytes(Change& change, Partition& partition);
void end_kernels(Change& change, Partition& partition);

// The terminal transition of a partition. A failure stops the job; the last partition to end
// either begins the assembly of the job's result (the answer is then the job) or ends the job.
struct PartitionEnd {
  std::shared_ptr<const ProofTexts> proof;  // when done
  std::optional<Error> error;               // when not
};
Job* finish_partition(Change& change, Partition& partition, PartitionEnd end);
// The one terminal transition of a job. Requires: all its partitions are final.
void finish_job(Change& change, Job& job);
// The end of an assembly, with or without a result.
void finish_assembly(Change& change, Job& job, std::shared_ptr<const std::string> result);
void fail_assembly(Change& change, Job& job, const Error& error);

// Stops a job that is not final: partitions in nobody's hands end at once, the others as soon as
// their stage looks at Job::cancelled. The first cause stays. No effect on a job that is final or
// ending.
void stop_job(Change& change, Job& job, Failure cause);

}  // namespace vitrine::engine
