// SPDX-License-Identifier: Apache-2.0
// Everything that reading a recording does, on bytes from anywhere: for tests and for a fuzzer.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "shm/attachment.h"
#include "shm/segment_reader.h"
#include "shm/snapshot_json.h"

namespace vitrine::shm {

// Goes through all frames of `bytes` with a snapshot, the events and the JSON of each; the number
// of frames. Must return whatever the bytes are.
inline std::uint64_t walk_recording(std::span<const std::byte> bytes) {
  auto recording = RecordingReader::of_bytes(bytes, "bytes");
  if (!recording) return 0;
  auto reader = SegmentReader::of_recording(std::move(*recording));
  if (!reader) return 0;
  Observation look;
  look.identity = reader->identity();
  std::uint64_t reached = 0;
  std::uint64_t frames = 0;
  do {
    ++frames;
    Snapshot snapshot = std::move(look.snapshot).value_or(Snapshot{});
    if (!reader->snapshot(snapshot)) break;
    look.snapshot = std::move(snapshot);
    look.liveness = reader->liveness();
    look.verdict.reason = reader->recording()->note();
    if (to_json(look).empty()) return 0;
    if (const auto events = reader->events_after(reached, 1024)) {
      reached = events->last_sequence;
      for (const Event& event : events->events) {
        if (event_to_json(event, *look.snapshot).empty()) return 0;
      }
    }
  } while (reader->next_frame());
  return frames;
}

}  // namespace vitrine::shm
