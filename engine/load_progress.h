// SPDX-License-Identifier: Apache-2.0
// Counts the bytes of a file taken in so far and tells who wants to know.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace vitrine::engine {

class LoadProgress {
 public:
  using Listener = std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

  LoadProgress(Listener listener, std::uint64_t total_bytes)
      : listener_(std::move(listener)), total_bytes_(total_bytes) {}

  void add(std::uint64_t bytes) {
    done_bytes_ += bytes;
    if (listener_) listener_(done_bytes_, total_bytes_);
  }

 private:
  Listener listener_;
  std::uint64_t done_bytes_ = 0;
  std::uint64_t total_bytes_;
};

}  // namespace vitrine::engine
