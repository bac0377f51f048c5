// SPDX-License-Identifier: Apache-2.0
#include "engine/line_limit.h"

#include <utility>

namespace vitrine::engine {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

}  // namespace

bool LineLimit::admits(std::string_view phrase, std::uint64_t now_ns) {
  if (most_ == 0) return true;
  Second& second = phrases_[phrase];
  if (now_ns - second.since_ns >= kSecond) {
    second.since_ns = now_ns;
    second.lines = 0;
  }
  if (second.lines < most_) {
    ++second.lines;
    return true;
  }
  ++second.left_out;
  has_left_out_ = true;
  return false;
}

std::vector<LineLimit::LeftOut> LineLimit::take_left_out(std::uint64_t now_ns) {
  std::vector<LeftOut> taken;
  if (!has_left_out_) return taken;
  has_left_out_ = false;
  for (auto& [phrase, second] : phrases_) {
    if (second.left_out == 0) continue;
    if (now_ns - second.since_ns < kSecond) {
      has_left_out_ = true;
    } else {
      taken.push_back({phrase, std::exchange(second.left_out, 0)});
    }
  }
  return taken;
}

}  // namespace vitrine::engine
