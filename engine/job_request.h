// SPDX-License-Identifier: Apache-2.0
// What a client asks for, and the engine's first answer.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/job.h"
#include "engine/witness_file.h"
#include "shm/words.h"

namespace vitrine::engine {

struct JobRequest {
  std::string circuit;
  std::vector<WitnessFile> witnesses;        // or inputs; one per partition, 1 to kPartitionsMax
  std::optional<shm::Priority> priority;     // none: the circuit's
  std::optional<std::uint64_t> deadline_ns;  // from now
  Job::AtDeadline at_deadline = Job::AtDeadline::kGoOn;
  std::string request_id;
};

enum class RefusalReason {
  kUnknownCircuit,    // nothing is counted: it is no job of any kind
  kBadRequest,        // the same
  kBadCircuit,        // its proving key cannot be read
  kNoWitnessCommand,  // of its circuit, so inputs are of no use
  kQueueFull,
  kStatusCapacity,
  kImpossible,  // more memory than the budget
  kDraining,
  kConflict,  // its request id is that of a different job; nothing is counted
  kStorage    // it cannot be made durable
};

struct Refusal {
  RefusalReason reason;
  std::string text;
};

// The job that stands for a request.
struct Acceptance {
  JobId job = 0;
  enum class Novelty { kNew, kKnown } novelty = Novelty::kNew;
  // To be settled before anybody is told of it; null when there is nothing to wait for.
  std::shared_ptr<const StoreAnswer> store_answer;
};

using Reception = boost::system::result<Acceptance, Refusal>;
using Submission = boost::system::result<JobId, Refusal>;

// Required by boost::system::result for value() on a refusal.
[[noreturn]] inline void throw_exception_from_error(const Refusal& refusal,
                                                    const boost::source_location&) {
  throw std::runtime_error(refusal.text);
}

}  // namespace vitrine::engine
