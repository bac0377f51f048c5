// SPDX-License-Identifier: Apache-2.0
// ApiBodyPace: until when the engine waits for the body of a request, so that a client may be slow
// but not keep its place for nothing.
//
// Why: a time for the whole body would cut off large honest ones, and one for silence would let a
// byte now and then hold a place for ever. So a body has a least rate and may be `patience` behind
// it, at any time: what came early is no credit for a later pause.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace vitrine::engine {

class ApiBodyPace {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kBytesPerSecond = std::size_t{64} << 10;

  ApiBodyPace(Clock::duration patience, Clock::time_point now)
      : patience_(patience), deadline_(now + patience) {}

  // `bytes` came at `began` and the engine had written them by `now`: that is not the client's
  // time.
  void took(std::size_t bytes, Clock::time_point began, Clock::time_point now) {
    const auto worth = std::chrono::nanoseconds(bytes * std::nano::den / kBytesPerSecond);
    deadline_ = std::min(deadline_ + (now - began) + worth, now + patience_);
  }
  [[nodiscard]] Clock::time_point deadline() const { return deadline_; }

 private:
  Clock::duration patience_;
  Clock::time_point deadline_;
};

}  // namespace vitrine::engine
