// SPDX-License-Identifier: Apache-2.0
// What a job store has said so far.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "engine/job_store.h"

namespace vitrine::engine::testing {

class StoreReports {
 public:
  JobStore::Listener listener() {
    return [this](const StoreReport& report) {
      const std::lock_guard lock(mutex_);
      reports_.push_back(report);
      changed_.notify_all();
    };
  }
  // The first report not yet taken for which `wanted` holds; those before it are taken too.
  template <class Wanted>
  StoreReport await(Wanted wanted) {
    std::unique_lock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (true) {
      while (taken_ < reports_.size()) {
        const StoreReport& report = reports_[taken_++];
        if (wanted(report)) return report;
      }
      if (changed_.wait_until(lock, deadline) == std::cv_status::timeout) FAIL("no such report");
    }
  }
  StoreReport await_stored() {
    return await([](const StoreReport& report) { return !report.stored.empty(); });
  }
  StoreReport await_ended() {
    return await([](const StoreReport& report) { return !report.ended.empty(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<StoreReport> reports_;
  std::size_t taken_ = 0;
};

}  // namespace vitrine::engine::testing
