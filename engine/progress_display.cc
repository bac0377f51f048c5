// SPDX-License-Identifier: Apache-2.0
#include "engine/progress_display.h"

#include <unistd.h>

#include <iostream>

namespace vitrine::engine {

namespace {
constexpr std::size_t kBarColumns = 30;
}  // namespace

ProgressStyle progress_style_of_stderr() {
  return ::isatty(STDERR_FILENO) == 1 ? ProgressStyle::kBar : ProgressStyle::kLines;
}

ProgressDisplay::~ProgressDisplay() {
  if (style_ == ProgressStyle::kBar) std::cerr << '\n';
}

void ProgressDisplay::update(std::uint32_t done, std::string_view doing) {
  const bool changed = done != done_ || doing != doing_;
  const bool is_done = done != done_;
  done_ = done;
  doing_ = doing;
  if (style_ == ProgressStyle::kBar && changed) draw_bar();
  if (style_ == ProgressStyle::kLines && is_done) {
    std::cerr << done << " of " << partitions_ << " partitions proved and verified" << std::endl;
  }
}

void ProgressDisplay::draw_bar() const {
  const std::size_t filled = kBarColumns * done_ / partitions_;
  // Back to the first column, and clear to the end: the text before may have been longer.
  std::cerr << "\r[" << std::string(filled, '#') << std::string(kBarColumns - filled, '.') << "] "
            << done_ << "/" << partitions_ << " " << doing_ << "\x1b[K" << std::flush;
}

}  // namespace vitrine::engine
