// SPDX-License-Identifier: Apache-2.0
#include "shm/event_follower.h"

#include "shm/clock.h"

namespace vitrine::shm {
namespace {

constexpr std::size_t kBatchEvents = 4096;
// Of all that a snapshot copies, only how the clocks stand to each other is of use here.
constexpr std::uint64_t kClockIntervalNs = 1'000'000'000;

Result<SegmentReader> open(const Target& target) {
  if (target.file) return SegmentReader::open_file(*target.file);
  const auto path = find_segment(target.instance, target.path, target.places);
  if (!path) return path.error();
  return SegmentReader::attach(*path, target.options);
}

}  // namespace

Result<EventFollower> EventFollower::attach(const Target& target) {
  Result<SegmentReader> reader = open(target);
  if (!reader) return reader.error();
  EventFollower follower(target, std::move(*reader));
  if (const auto taken = follower.renew_clock(); !taken) {
    return taken.error();
  }
  return follower;
}

Result<EventFollower::Batch> EventFollower::next() {
  const std::uint64_t commit = reader_.commit();
  if (commit == last_commit_) {
    if (std::optional<SegmentReader> fresh = successor()) {
      // The engine before is gone for good now, so what it wrote last is complete.
      if (reader_.commit() == last_commit_) switch_to(std::move(*fresh));
      return next();
    }
    return Batch{};
  }
  if (const auto renewed = renew_clock(); !renewed) return unreadable(renewed.error());
  Result<EventBatch> read = reader_.events_after(last_sequence_, kBatchEvents);
  if (!read) return unreadable(read.error());
  Batch batch;
  batch.events = std::move(read->events);
  batch.missed = read->missed;
  if (std::exchange(is_switched_, false)) batch.new_incarnation = reader_.identity().incarnation;
  last_sequence_ = read->last_sequence;
  // Some may be left, behind a full portion or a gap: come back although no commit was added.
  if (!read->has_more) last_commit_ = commit;
  return batch;
}

Result<void> EventFollower::renew_clock() {
  const std::uint64_t now_ns = monotonic_ns();
  const bool is_of_reader = clock_.incarnation == reader_.identity().incarnation;
  if (is_of_reader && now_ns - clock_taken_ns_ < kClockIntervalNs) return {};
  const Result<void> taken = reader_.snapshot(clock_);
  if (taken) clock_taken_ns_ = now_ns;
  return taken;
}

void EventFollower::switch_to(SegmentReader fresh) {
  is_switched_ = fresh.identity().incarnation != reader_.identity().incarnation;
  reader_ = std::move(fresh);
  if (!is_switched_) return;
  last_sequence_ = 0;
  last_commit_ = 0;
}

Result<EventFollower::Batch> EventFollower::unreadable(const Error& error) {
  if (std::optional<SegmentReader> fresh = successor()) {
    switch_to(std::move(*fresh));
    return next();
  }
  return error;
}

void EventFollower::skip_to_last(std::uint64_t count) {
  const std::uint64_t newest = clock_.last_event_sequence;
  last_sequence_ = newest > count ? newest - count : 0;
}

bool EventFollower::engine_lives() const {
  const Liveness liveness = reader_.liveness();
  return liveness.lock_held && !liveness.is_file;
}

std::optional<SegmentReader> EventFollower::successor() const {
  if (target_.file || reader_.liveness().name_linked) return std::nullopt;
  Result<SegmentReader> fresh = open(target_);
  if (!fresh) return std::nullopt;
  return std::move(*fresh);
}

}  // namespace vitrine::shm
