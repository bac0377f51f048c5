// SPDX-License-Identifier: Apache-2.0
// A backend that does what a test tells it, at a moment the test chooses: the real stages, each
// after a script that may wait, fail or throw.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>

#include "engine/cpu_backend.h"

namespace vitrine::engine::testing {

enum class ScriptedStage { kSynthesize, kStart, kFinish, kVerify };

class ScriptedBackend final : public Backend {
 public:
  // Called before each stage with the number of earlier calls of that stage; an error is what the
  // stage answers.
  using Script = std::function<Result<void>(ScriptedStage stage, unsigned call)>;

  explicit ScriptedBackend(Script script) : script_(std::move(script)) {}

  std::string_view name() const override { return "scripted"; }

  Result<ConstraintValues> synthesize(const ProvingKey& key, const Witness& witness,
                                      const StageContext& context) override {
    if (auto told = tell(ScriptedStage::kSynthesize); !told) return told.error();
    return real_.synthesize(key, witness, context);
  }
  Result<StartedProof> prove_start(const ProvingKey& key, Witness&& witness,
                                   ConstraintValues&& values,
                                   const StageContext& context) override {
    if (auto told = tell(ScriptedStage::kStart); !told) return told.error();
    return real_.prove_start(key, std::move(witness), std::move(values), context);
  }
  Result<Proof> prove_finish(const ProvingKey& key, StartedProof&& started,
                             const StageContext& context) override {
    if (auto told = tell(ScriptedStage::kFinish); !told) return told.error();
    return real_.prove_finish(key, std::move(started), context);
  }
  Result<void> verify(const VerifyingKey& key, const Proof& proof,
                      const PublicInputs& inputs) override {
    if (auto told = tell(ScriptedStage::kVerify); !told) return told.error();
    return real_.verify(key, proof, inputs);
  }

 private:
  Result<void> tell(ScriptedStage stage) {
    return script_(stage, calls_[static_cast<std::size_t>(stage)].fetch_add(1));
  }

  Script script_;
  CpuBackend real_;
  std::atomic<unsigned> calls_[4]{};
};

// Something that stages stop at until the test opens it.
class Gate {
 public:
  // For a stage: says that it is here, and waits.
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    wait(lock, [this] { return is_open_; });
  }
  // For the test: until `count` stages have come.
  void await_arrivals(unsigned count) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return arrived_ >= count; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  // A test that is wrong ends with a message instead of hanging.
  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, Ready ready) {
    if (!changed_.wait_for(lock, std::chrono::seconds(60), ready)) {
      throw std::runtime_error("a gate was waited for in vain");
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned arrived_ = 0;
  bool is_open_ = false;
};

}  // namespace vitrine::engine::testing
