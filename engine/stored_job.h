// SPDX-License-Identifier: Apache-2.0
// A job as the job store keeps it.
//
// Units  the instants of the record are those of this boot of the host; the store keeps them as
//        times of day, so one of before the boot reads as an instant before zero, in two's
//        complement, and its age is right.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/job.h"
#include "shm/records.h"

namespace vitrine::engine {

// Where a partition's witness, or the input it is made from, is; never what is in it.
struct StoredWitness {
  enum class Owner { kEngine, kClient } owner = Owner::kEngine;
  std::string path;  // of the engine's copy: its name in the spool
  std::string name;  // the client's, of an upload
  std::uint64_t bytes = 0;
  WitnessKind kind = WitnessKind::kWitness;
};

struct StoredJob {
  shm::JobRecord record;
  std::string failure;                   // in full
  std::vector<StoredWitness> witnesses;  // by partition; empty once the job is final
  Job::AtDeadline at_deadline = Job::AtDeadline::kGoOn;
  std::uint32_t deaths = 0;  // of engines, while they were at it
};

// That an engine is at a job from now on, or is so no longer though the job has not ended.
struct JobRun {
  JobId job = 0;
  enum class Turn { kBegins, kStops } turn = Turn::kBegins;
};

// How a job ended.
struct JobEnd {
  shm::JobRecord record;
  std::string failure;
  std::vector<std::shared_ptr<const ProofTexts>> proofs;  // by partition; empty unless done
};

// The newest job of a request id.
struct StoredRequest {
  std::string request;
  std::string circuit;
  JobId job = 0;
  std::uint32_t attempt = 0;
  std::uint32_t partitions = 0;
  shm::JobState state{};
};

}  // namespace vitrine::engine
