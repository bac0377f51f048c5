// SPDX-License-Identifier: Apache-2.0
// RequestIndex: the newest job of each request id that the engine knows.
//
// Threads  the engine's state mutex is held around every call, so of several submits of one id
//          exactly one makes a job.
// Cost     an entry for each kept job with a request id; the limits of the job store bound them,
//          without a store the rows of the status plane.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/stored_job.h"

namespace vitrine::engine {

class RequestIndex {
 public:
  // Null when it is not known.
  [[nodiscard]] const StoredRequest* find(const std::string& request) const;
  // The job is the newest of its request id. Nothing to do without one.
  void begin(const StoredRequest& entry);
  // The job is final now.
  void end(const std::string& request, JobId job, shm::JobState state);
  // The job never was: its attempt is free again.
  void take_back(const std::string& request, JobId job);
  // The job is not kept any more. A newer one stays.
  void forget(const std::string& request, JobId job);
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  [[nodiscard]] StoredRequest* entry_of(const std::string& request, JobId job);

  std::map<std::string, StoredRequest> entries_;
};

}  // namespace vitrine::engine
