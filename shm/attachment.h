// SPDX-License-Identifier: Apache-2.0
// Attachment: what tools and exporters watch an engine through; it finds the segment, attaches,
// follows a restarted engine to its new segment and keeps the last state of a dead one.
//
// Threads  one at a time.
// Cost     an observation is one snapshot, one stat and one lock query.
// Crash    of the engine: the mapping stays, so the last state stays readable even when the name
//          is gone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "shm/error.h"
#include "shm/observer.h"
#include "shm/paths.h"
#include "shm/segment_reader.h"

namespace vitrine::shm {

// Which engine to watch.
struct Target {
  std::string instance = "main";
  std::optional<std::filesystem::path> path = {};  // --segment; then the instance is not looked up
  std::optional<std::filesystem::path> file = {};  // --file: a recording or dead segment, read once
  AttachOptions options = {};
  SegmentPlaces places = {};
};

class Attachment {
 public:
  explicit Attachment(Target target);

  // Looks once, without waiting. The reference is valid until the next call.
  const Observation& observe();

  // For one-shot commands: like observe(), but when the heartbeat looks as if it stood, looks a
  // second time after 3 promised intervals (6 s at most), because one look cannot tell.
  const Observation& observe_settled();

  const Observation& last() const { return observer_.last(); }
  const Target& target() const { return target_; }

  // The attached segment, for events; null when none was ever attached. Invalid after observe().
  SegmentReader* reader() { return reader_ ? &*reader_ : nullptr; }

 private:
  // Why no segment is attached; nothing when one is.
  std::optional<Error> open_file_once();
  std::optional<Error> find_segment_again(const Liveness& liveness);
  void attach_to(SegmentReader reader);

  Target target_;
  std::optional<SegmentReader> reader_;
  Observer observer_;
};

}  // namespace vitrine::shm
