// SPDX-License-Identifier: Apache-2.0
// Counts the bytes of a key's file taken in so far and tells who wants to know.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace vitrine::engine {

// Bytes of a file, by what they become: constraint matrices, or points and all the rest.
struct LoadedBytes {
  std::uint64_t points = 0, points_total = 0;
  std::uint64_t constraints = 0, constraints_total = 0;
  bool has_constraints = false;  // the matrices are whole and checked

  [[nodiscard]] std::uint64_t done() const { return points + constraints; }
  [[nodiscard]] std::uint64_t total() const { return points_total + constraints_total; }
};

class LoadProgress {
 public:
  using Listener = std::function<void(const LoadedBytes&)>;

  LoadProgress(Listener listener, std::uint64_t file_bytes, std::uint64_t constraint_bytes)
      : listener_(std::move(listener)) {
    loaded_.points_total = file_bytes - constraint_bytes;
    loaded_.constraints_total = constraint_bytes;
  }

  void add_points(std::uint64_t bytes) {
    loaded_.points += bytes;
    tell();
  }
  void add_constraints(std::uint64_t bytes) {
    loaded_.constraints += bytes;
    tell();
  }
  // Nothing new: for a wait that whoever listens may end.
  void tell() const {
    if (listener_) listener_(loaded_);
  }
  void end_constraints() {
    loaded_.constraints = loaded_.constraints_total;
    loaded_.has_constraints = true;
    tell();
  }

 private:
  Listener listener_;
  LoadedBytes loaded_;
};

}  // namespace vitrine::engine
