// SPDX-License-Identifier: Apache-2.0
// A process of its own that takes snapshots of a segment until stopped, and tells what was wrong
// with them (segment_watch_main.cc).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace vitrine::engine::testing {

class SegmentWatch {
 public:
  // Returns once the process has taken its first snapshot; throws when it cannot.
  explicit SegmentWatch(const std::filesystem::path& segment);
  ~SegmentWatch() { stop(); }
  SegmentWatch(const SegmentWatch&) = delete;
  SegmentWatch& operator=(const SegmentWatch&) = delete;

  // Lets the process take a last snapshot and end. Empty when every snapshot was as it should be.
  std::vector<std::string> stop();
  // How many were taken, once stopped.
  std::uint64_t snapshots() const { return snapshots_; }

 private:
  std::vector<std::string> read_lines_until_end();

  pid_t child_ = -1;
  int input_ = -1;   // of the process: it ends when this is closed
  int output_ = -1;  // of the process
  std::uint64_t snapshots_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace vitrine::engine::testing
