// SPDX-License-Identifier: Apache-2.0
// Adds up how long each stage took over all partitions, for the table `--timings` prints.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vitrine::engine {

class StageTimings {
 public:
  // Runs work(), counts its time under `stage`, and returns what it returned.
  template <class Work>
  auto measure(std::string_view stage, Work&& work) {
    const Scope scope(*this, stage);
    return std::forward<Work>(work)();
  }

  // One line a stage, in the order they first ran: name, runs, milliseconds in all, mean.
  [[nodiscard]] std::string table() const;

 private:
  using Clock = std::chrono::steady_clock;

  class Scope {
   public:
    Scope(StageTimings& timings, std::string_view stage)
        : timings_(timings), stage_(stage), begin_(Clock::now()) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { timings_.add(stage_, Clock::now() - begin_); }

   private:
    StageTimings& timings_;
    std::string_view stage_;
    Clock::time_point begin_;
  };

  struct Row {
    std::string stage;
    std::uint64_t runs = 0;
    Clock::duration total{};
  };

  void add(std::string_view stage, Clock::duration duration);

  std::vector<Row> rows_;
};

}  // namespace vitrine::engine
