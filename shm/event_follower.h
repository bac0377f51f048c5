// SPDX-License-Identifier: Apache-2.0
// Reads the events of an instance in order, across restarts of its engine and of the reading
// program, and counts exactly those that were overwritten before they could be read. A segment that
// its engine publishes again goes on where the one before ended; an engine that came and went
// between two looks is read from its dead segment.
//
// Threads  one at a time.
// Crash    of the engine: its last events are read before those of its successor.
#pragma once

#include <optional>
#include <vector>

#include "shm/attachment.h"

namespace vitrine::shm {

// All events up to `sequence` of that engine have been read; an empty incarnation: none ever.
struct EventPosition {
  std::string incarnation;
  std::uint64_t sequence = 0;
  friend bool operator==(const EventPosition&, const EventPosition&) = default;
};

class EventFollower {
 public:
  // Goes on behind `after`, in the dead segment of that engine if need be. Errors: those of finding
  // and attaching to a segment.
  static Result<EventFollower> attach(const Target& target, const EventPosition& after = {});

  struct Batch {
    std::vector<Event> events;
    std::uint64_t missed = 0;          // overwritten before `events`
    std::string new_incarnation;       // not empty: these are the first events of another engine
    std::uint64_t engines_missed = 0;  // whose last events are gone with their segment: 0 or 1
  };
  // What came since the last call, in bounded portions; empty when nothing did. Never waits. An
  // error may pass while the engine lives: it publishes a damaged segment again.
  Result<Batch> next();

  // Leaves out all but the newest `count` of the events that are there now.
  void skip_to_last(std::uint64_t count);

  // A snapshot of the incarnation of the last batch, to tell times by; a second old at most while
  // events come.
  const Snapshot& clock() const { return clock_; }
  // True while the engine of the last batch lives.
  bool engine_lives() const;
  // Up to where the batches have come.
  EventPosition position() const { return {reader_.identity().incarnation, last_sequence_}; }
  // The segment that the batches come from; a snapshot of it holds what they tell of.
  SegmentReader& reader() { return reader_; }

 private:
  EventFollower(Target target, SegmentReader reader)
      : target_(std::move(target)), reader_(std::move(reader)) {}

  void go_on_after(const EventPosition& position);
  // The segment to be read after this one, when there is another.
  std::optional<SegmentReader> successor();
  std::optional<SegmentReader> oldest_unread(const SegmentIdentity& current,
                                             std::uint64_t after_beat_ns) const;
  void switch_to(SegmentReader fresh);
  Result<void> renew_clock();
  Result<Batch> unreadable(const Error& error);

  Target target_;
  SegmentReader reader_;
  Snapshot clock_;
  std::uint64_t clock_taken_ns_ = 0;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t last_commit_ = 0;
  bool is_switched_ = false;
  std::uint64_t engines_missed_ = 0;
};

}  // namespace vitrine::shm
