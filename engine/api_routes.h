// SPDX-License-Identifier: Apache-2.0
// What the API answers (docs/api.md).
//
// Threads: any; a request that waits holds its thread, for kWaitMax at most (prove: until the job
// is final or the client has left).
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/api_circuits.h"
#include "engine/api_message.h"
#include "engine/configuration.h"
#include "engine/engine.h"

namespace vitrine::engine {

class ApiRoutes {
 public:
  static constexpr std::chrono::seconds kWaitMax{60};

  // `on_drain` asks the program to drain and end; it does not wait. `on_reload` reads the
  // configuration again; empty: there is none to read. Both outlive the routes.
  using Reload = std::function<Result<ReloadReport>()>;
  ApiRoutes(Engine& engine, const Configuration& configuration, std::function<void()> on_drain,
            Reload on_reload = {})
      : engine_(engine),
        witness_folders_(std::make_shared<const std::vector<std::filesystem::path>>(
            configuration.witness_directories)),
        on_drain_(std::move(on_drain)),
        on_reload_(std::move(on_reload)) {}

  // Folders in which clients may name files from now on.
  void set_witness_directories(std::vector<std::filesystem::path> folders);

  // Whether the answer may have to wait for something other than the engine's own work at it.
  [[nodiscard]] static bool may_wait(const ApiRequest& head);
  // The answer that needs no body to be read: what is wrong with the request's head, or nothing. A
  // job that is refused here is counted; its request is not to be answered again.
  [[nodiscard]] std::optional<ApiResponse> refuse_early(const ApiRequest& head);
  // Requires: refuse_early() had nothing against the request.
  [[nodiscard]] ApiResponse answer(ApiRequest request);

 private:
  using WitnessFolders = std::shared_ptr<const std::vector<std::filesystem::path>>;
  using FoundJob = boost::system::result<JobStatus, ApiResponse>;

  WitnessFolders witness_folders();
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
  ApiResponse command(const ApiRequest& request, std::string_view name);

  Engine& engine_;
  std::mutex folders_mutex_;
  WitnessFolders witness_folders_;  // never null; replaced as a whole
  std::function<void()> on_drain_;
  Reload on_reload_;
  KeyVerification verification_;
};

}  // namespace vitrine::engine
