// SPDX-License-Identifier: Apache-2.0
// Answers built from one observation of an engine, each built once and shared by every client.
//
// Why      a hundred dashboards polling twice a second must cost the exporter what one costs.
// Threads  any; an answer is built under the lock, so that clients who ask for the same at once
//          wait for the one that is being built.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "exporters/http_message.h"
#include "exporters/watched_engine.h"

namespace vitrine::exporters {

class ResponseCache {
 public:
  using Build = std::function<Response(const shm::Observation&)>;

  // The answer named `format` for `moment`. Answers for an older moment are forgotten.
  SharedResponse get(const Moment& moment, const std::string& format, const Build& build);

 private:
  // Clients choose part of the name (?kind=...), so their number is bounded.
  static constexpr std::size_t kMaxAnswers = 32;

  std::mutex mutex_;
  std::uint64_t moment_number_ = 0;
  std::map<std::string, SharedResponse> answers_;
};

}  // namespace vitrine::exporters
