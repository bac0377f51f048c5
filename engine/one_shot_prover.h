// SPDX-License-Identifier: Apache-2.0
// One job in an engine of this process: what vitrine-prove does between its arguments and its
// files.
//
// Threads: one, besides the engine's own.
// Why: a one-shot proof takes the same way as the daemon's, so it is shown, budgeted and verified
// by the same parts.
#pragma once

#include <atomic>
#include <boost/system/result.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/journal.h"
#include "engine/progress_display.h"
#include "engine/stage_timings.h"

namespace vitrine::engine {

struct OneShotRequest {
  std::filesystem::path zkey;
  std::vector<std::filesystem::path> wtns;  // 1 to kPartitionsMax
  bool insecure = false;
  unsigned threads = 0;  // zero: as many as this process may run on
  std::string instance;
  std::filesystem::path segment;  // empty: the default place of the instance
  Journal* journal = nullptr;     // outlives the prover
};

struct OneShotFailure {
  int exit_code;
  std::string text;
};

class OneShotProver {
 public:
  using Started = boost::system::result<OneShotProver, OneShotFailure>;

  // Publishes the instance and submits the job.
  [[nodiscard]] static Started start(const OneShotRequest& request);

  // Why nobody can see the instance; empty when they can.
  [[nodiscard]] std::string why_not_shared() const { return engine_->why_not_shared(); }

  // Waits for the end of the job, showing its progress; cancels it when `cancelled` becomes true.
  // Nothing when all partitions are proved and verified.
  [[nodiscard]] std::optional<OneShotFailure> wait(ProgressDisplay& display,
                                                   const std::atomic<bool>& cancelled);

  // After wait() has answered nothing.
  [[nodiscard]] std::shared_ptr<const ProofTexts> proof(std::uint32_t partition);
  [[nodiscard]] StageTimings timings();

 private:
  OneShotProver(std::unique_ptr<Engine> engine, std::vector<std::filesystem::path> wtns)
      : engine_(std::move(engine)), wtns_(std::move(wtns)) {}

  [[nodiscard]] std::string doing(const shm::JobRecord& job);
  [[nodiscard]] std::optional<OneShotFailure> failure_of(const JobStatus& status) const;

  std::unique_ptr<Engine> engine_;
  std::vector<std::filesystem::path> wtns_;
  JobId job_ = 0;
};

}  // namespace vitrine::engine
