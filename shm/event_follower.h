// SPDX-License-Identifier: Apache-2.0
// Reads the events of an instance in order, across restarts of its engine, and counts exactly
// those that were overwritten before they could be read. A segment that its engine publishes again
// goes on where the one before ended.
//
// Threads  one at a time.
// Crash    of the engine: its last events are read before those of its successor.
#pragma once

#include <optional>
#include <vector>

#include "shm/attachment.h"

namespace vitrine::shm {

class EventFollower {
 public:
  // Errors: those of finding and attaching to a segment.
  static Result<EventFollower> attach(const Target& target);

  struct Batch {
    std::vector<Event> events;
    std::uint64_t missed = 0;     // overwritten before `events`
    std::string new_incarnation;  // not empty: these are the first events of another engine
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

 private:
  EventFollower(Target target, SegmentReader reader)
      : target_(std::move(target)), reader_(std::move(reader)) {}

  // The segment to which the name leads now, when that is another one.
  std::optional<SegmentReader> successor() const;
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
};

}  // namespace vitrine::shm
