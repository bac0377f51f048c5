// SPDX-License-Identifier: Apache-2.0
// RawSegmentWriter: a live segment of any layout, its rows stored by somebody else.
//
// Writer   makes the file with the recorded header and an identity of its own; the caller plays a
//          first frame into it (shm/frame_player.h) and then gives it its name.
// Threads  one at a time.
// Crash    the kernel drops the locks; readers see the last frame and a dead engine.
// Why      a recording may be of an engine that is newer than this program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "shm/error.h"
#include "shm/raw_layout.h"

namespace vitrine::shm {

class RawSegmentWriter {
 public:
  // Takes the name's lock, retires a dead predecessor and makes a segment like `recorded`, whose
  // PID, incarnation, host and boot id are new: the recorded times are of a clock that nobody here
  // has. Errors: kInUse, kUnreadable, kSystem.
  static Result<RawSegmentWriter> create(const RawLayout& recorded,
                                         const std::filesystem::path& path,
                                         const std::string& instance);

  RawSegmentWriter(RawSegmentWriter&&) noexcept;
  RawSegmentWriter& operator=(RawSegmentWriter&&) noexcept;
  ~RawSegmentWriter();

  std::byte* bytes() const;
  // One heartbeat; `engine_ns` is the time on the recorded engine's clock that is now.
  void beat(std::uint64_t engine_ns);
  // Says that the engine has ended, unless what was played says so.
  void close();
  // Lets readers find it. Once.
  Result<void> link();
  // Removes the name and the lock file. Readers keep their mapping.
  void unlink_name();

 private:
  struct State;

  explicit RawSegmentWriter(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace vitrine::shm
