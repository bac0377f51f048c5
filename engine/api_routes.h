// SPDX-License-Identifier: Apache-2.0
// What the API answers (docs/api.md).
//
// Threads: any; a request that waits holds its thread, for kWaitMax at most (prove: until the job
// is final or the client has left).
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "engine/api_message.h"
#include "engine/configuration.h"
#include "engine/engine.h"

namespace vitrine::engine {

class ApiRoutes {
 public:
  static constexpr std::chrono::seconds kWaitMax{60};

  // `on_drain` asks the program to drain and end; it does not wait. Both outlive the routes.
  ApiRoutes(Engine& engine, const Configuration& configuration, std::function<void()> on_drain)
      : engine_(engine), configuration_(configuration), on_drain_(std::move(on_drain)) {}

  // The answer that needs no body to be read: what is wrong with the request's head, or nothing. A
  // job that is refused here is counted; its request is not to be answered again.
  [[nodiscard]] std::optional<ApiResponse> refuse_early(const ApiRequest& head);
  // Requires: refuse_early() had nothing against the request.
  [[nodiscard]] ApiResponse answer(ApiRequest request);

 private:
  using FoundJob = boost::system::result<JobStatus, ApiResponse>;

  FoundJob find_job(JobId id, Engine::Deadline deadline);
  ApiResponse result_of(JobId id);
  // Null when the partition has none.
  Result<std::shared_ptr<const ProofTexts>> find_proof(JobId id, std::uint32_t partition);
  ApiResponse proof_of(JobId id, std::uint32_t partition);
  // Of `count` partitions from `first` on.
  ApiResponse compressed_proofs(JobId id, std::uint32_t first, std::uint32_t count);
  ApiResponse submit(ApiRequest& request);
  ApiResponse prove(ApiRequest& request);
  ApiResponse list_jobs(const ApiRequest& request);
  ApiResponse show_job(JobId id, const ApiRequest& request);
  ApiResponse show_proof(JobId id, const ApiRequest& request);
  ApiResponse cancel_job(JobId id, const ApiRequest& request);
  ApiResponse list_circuits(const ApiRequest& request);
  ApiResponse command(const ApiRequest& request, std::string_view name);

  Engine& engine_;
  const Configuration& configuration_;
  std::function<void()> on_drain_;
};

}  // namespace vitrine::engine
