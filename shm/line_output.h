// SPDX-License-Identifier: Apache-2.0
// LineOutput: lines to a descriptor whose reader may stand still.
//
// Threads  one at a time.
// Cost     one poll and one write a line. When nobody takes the bytes, one wait of 100 ms, then
// none
//          until there is room again; lines meanwhile are lost and counted.
// Why      a program that is watched must not be stopped by who reads its log.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "shm/file_descriptor.h"

namespace vitrine::shm {

class LineOutput {
 public:
  static constexpr std::size_t kLineBytesMax = 4096;  // PIPE_BUF: what a pipe takes at once

  // `loss_line` makes the line that tells of that many lost lines. The descriptor stays the
  // caller's, and open.
  LineOutput(int descriptor, std::function<std::string(std::uint64_t)> loss_line);

  // `line` ends with its newline; what is longer than kLineBytesMax is cut.
  void write(std::string_view line);
  std::uint64_t lost() const { return lost_; }

 private:
  bool has_room() const;
  bool put(std::string_view line);
  // The bytes that were taken; zero when there was no room.
  std::size_t write_some(std::string_view bytes) const;

  FileDescriptor own_;
  int descriptor_;
  std::function<std::string(std::uint64_t)> loss_line_;
  std::string rest_;        // of a line that was taken in part
  std::uint64_t lost_ = 0;  // since the last line that was taken
};

}  // namespace vitrine::shm
