// SPDX-License-Identifier: Apache-2.0
// A backend whose stages take a given time and compute nothing, so that what is measured is the
// engine and not the arithmetic; and an engine with it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "engine/backend.h"
#include "engine/engine.h"

namespace vitrine::bench {

struct StageTimes {
  std::chrono::microseconds synthesize, start, finish, verify;
};

class TimedBackend final : public engine::Backend {
 public:
  explicit TimedBackend(const StageTimes& times) : times_(times) {}

  std::string_view name() const override { return "timed"; }

  engine::Result<engine::ConstraintValues> synthesize(const engine::ProvingKey&,
                                                      const engine::Witness&,
                                                      const engine::StageContext&) override {
    std::this_thread::sleep_for(times_.synthesize);
    return engine::ConstraintValues{};
  }
  engine::Result<engine::StartedProof> prove_start(const engine::ProvingKey&, engine::Witness&&,
                                                   engine::ConstraintValues&&,
                                                   const engine::StageContext&) override {
    run_kernels(times_.start);
    return engine::StartedProof{};
  }
  engine::Result<engine::Proof> prove_finish(const engine::ProvingKey&, engine::StartedProof&&,
                                             const engine::StageContext&) override {
    run_kernels(times_.finish);
    return engine::Proof{};
  }
  engine::Result<void> verify(const engine::VerifyingKey&, const engine::Proof&,
                              const engine::PublicInputs&) override {
    std::this_thread::sleep_for(times_.verify);
    return {};
  }

  // How long the device was in its kernels so far.
  std::chrono::nanoseconds in_kernels() const { return std::chrono::nanoseconds(in_kernels_ns_); }

 private:
  void run_kernels(std::chrono::microseconds time) {
    const auto begin = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(time);
    in_kernels_ns_ += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  }

  StageTimes times_;
  std::atomic<std::int64_t> in_kernels_ns_{0};
};

inline std::filesystem::path bench_data() {
  return std::filesystem::path(VITRINE_TEST_DATA) / "bn128/multiplier";
}

// The key of circuit `small` is loaded already.
inline std::unique_ptr<engine::Engine> start_engine(engine::EngineOptions options) {
  options.configuration.circuits = {
      {"small", bench_data() / "circuit.zkey", "small", false, false}};
  options.configuration.threads = 1;
  options.configuration.memory_budget_bytes = std::uint64_t{1} << 30;
  options.segment_end = engine::EngineOptions::SegmentEnd::kRemove;
  auto started = engine::Engine::start(std::move(options));
  if (!started) {
    std::fprintf(stderr, "%s\n", started.error().text.c_str());
    std::exit(1);
  }
  (*started)->declare_ready();
  return std::move(*started);
}

inline engine::JobRequest job_of(unsigned partitions) {
  engine::JobRequest request;
  request.circuit = "small";
  request.witnesses.assign(partitions, {bench_data() / "witness.1.wtns", nullptr});
  return request;
}

inline void await_end(engine::Engine& engine, engine::JobId job) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  const auto status = engine.wait(job, deadline);
  if (status && status->record.state == shm::JobState::kDone) return;
  std::fprintf(stderr, "a job did not end well: %s\n", status ? status->failure.c_str() : "");
  std::exit(1);
}

}  // namespace vitrine::bench
