// SPDX-License-Identifier: Apache-2.0
// LineLimit: how many lines of one phrase a log gets in a second; the rest is counted and told.
//
// Units    nanoseconds of CLOCK_MONOTONIC.
// Threads  one at a time.
// Cost     one look-up a line; the phrases are few, since each is a literal of the source.
// Why      a fault that repeats a thousand times a second must not fill a disk, nor hide in one
//          flood what else is said.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace vitrine::engine {

class LineLimit {
 public:
  // Zero: no limit.
  explicit LineLimit(std::uint32_t lines_a_second) : most_(lines_a_second) {}

  // False when the line is one too many. `phrase` outlives this.
  [[nodiscard]] bool admits(std::string_view phrase, std::uint64_t now_ns);

  struct LeftOut {
    std::string_view phrase;
    std::uint64_t lines = 0;
  };
  // What was left out in seconds that are over; each is told once.
  [[nodiscard]] std::vector<LeftOut> take_left_out(std::uint64_t now_ns);

 private:
  struct Second {
    std::uint64_t since_ns = 0;
    std::uint32_t lines = 0;
    std::uint64_t left_out = 0;
  };

  std::uint32_t most_;
  std::map<std::string_view, Second> phrases_;
  bool has_left_out_ = false;
};

}  // namespace vitrine::engine
