// SPDX-License-Identifier: Apache-2.0
// Shows a one-shot program's progress on stderr: a bar on a terminal, a line a step elsewhere.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vitrine::engine {

enum class ProgressStyle { kNone, kLines, kBar };

// A bar when stderr is a terminal, lines when not.
[[nodiscard]] ProgressStyle progress_style_of_stderr();

class ProgressDisplay {
 public:
  ProgressDisplay(ProgressStyle style, std::uint64_t steps) : style_(style), steps_(steps) {}
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;
  // Leaves the terminal's cursor on a line of its own.
  ~ProgressDisplay();

  // What is being done now; shown on a bar only.
  void doing(std::string_view what);
  // A step is done; `line` says which, for those without a bar.
  void step_done(std::string_view line);

 private:
  void draw() const;

  ProgressStyle style_;
  std::uint64_t steps_;
  std::uint64_t done_ = 0;
  std::string what_;
};

}  // namespace vitrine::engine
