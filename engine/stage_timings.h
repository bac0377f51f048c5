// SPDX-License-Identifier: Apache-2.0
// Adds up how long each stage took over all partitions, for the table `--timings` prints.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::engine {

class StageTimings {
 public:
  // One run of `stage`, between two instants of one clock. Nothing when either is unknown (zero).
  void add(std::string_view stage, std::uint64_t begin_ns, std::uint64_t end_ns);

  // One line a stage, in the order they were first added: name, runs, milliseconds in all, mean.
  [[nodiscard]] std::string table() const;

 private:
  struct Row {
    std::string stage;
    std::uint64_t runs = 0;
    std::uint64_t total_ns = 0;
  };

  std::vector<Row> rows_;
};

}  // namespace vitrine::engine
