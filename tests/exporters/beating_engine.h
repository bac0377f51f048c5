// SPDX-License-Identifier: Apache-2.0
// The status plane of an engine that is idle and alive: a real segment with a real heartbeat.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "tests/shm/small_segment.h"

namespace vitrine::exporters::testing {

class BeatingEngine {
 public:
  explicit BeatingEngine(const std::filesystem::path& path)
      : writer_(shm::publish(patient_segment(path))) {
    writer_.set_life(shm::EngineLife::kReady, 0);
    writer_.beat();
    heart_ = std::thread([this] { beat_until_stopped(); });
  }
  BeatingEngine(const BeatingEngine&) = delete;
  BeatingEngine& operator=(const BeatingEngine&) = delete;
  // Ends as an engine does that is killed: the lock goes, the name and the last state stay.
  ~BeatingEngine() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    stop_.notify_one();
    heart_.join();
  }

  // From the test's thread only, which stands for the holder of the engine's state mutex.
  shm::SegmentWriter& writer() { return writer_; }

  void put_job(std::uint32_t row, std::uint64_t id, shm::JobState state) {
    auto transaction = writer_.begin();
    auto& job = transaction.recycle<shm::JobRecord>(row);
    job.job.value = id;
    job.state = state;
    job.proof_kind.assign("porep");
    job.circuit.assign("multiplier");
    job.partitions = 1;
  }

 private:
  // Promises so few beats that a busy test machine never makes the engine look hung.
  static shm::SegmentOptions patient_segment(const std::filesystem::path& path) {
    shm::SegmentOptions options = shm::small_segment(path);
    options.heartbeat_interval_ns = 2'000'000'000;
    return options;
  }

  void beat_until_stopped() {
    std::unique_lock lock(mutex_);
    while (!stop_.wait_for(lock, std::chrono::milliseconds(20), [this] { return stopping_; })) {
      writer_.beat();
    }
  }

  shm::SegmentWriter writer_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread heart_;
};

}  // namespace vitrine::exporters::testing
