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
  ProgressDisplay(ProgressStyle style, std::uint32_t partitions)
      : style_(style), partitions_(partitions) {}
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;
  // Leaves the terminal's cursor on a line of its own.
  ~ProgressDisplay();

  // How many partitions are done, and what is being done now. May be called as often as one likes:
  // only what changed is shown.
  void update(std::uint32_t done, std::string_view doing);

 private:
  void draw_bar() const;

  ProgressStyle style_;
  std::uint32_t partitions_;
  std::uint32_t done_ = 0;
  std::string doing_;
};

}  // namespace vitrine::engine
