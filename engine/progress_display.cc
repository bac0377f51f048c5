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

void ProgressDisplay::doing(std::string_view what) {
  what_ = what;
  if (style_ == ProgressStyle::kBar) draw();
}

void ProgressDisplay::step_done(std::string_view line) {
  ++done_;
  if (style_ == ProgressStyle::kLines) std::cerr << line << std::endl;
  if (style_ == ProgressStyle::kBar) draw();
}

void ProgressDisplay::draw() const {
  const std::size_t filled = steps_ == 0 ? kBarColumns : kBarColumns * done_ / steps_;
  // Back to the first column, and clear to the end: the text before may have been longer.
  std::cerr << "\r[" << std::string(filled, '#') << std::string(kBarColumns - filled, '.') << "] "
            << done_ << "/" << steps_ << " " << what_ << "\x1b[K" << std::flush;
}

}  // namespace vitrine::engine
