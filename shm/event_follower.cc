// SPDX-License-Identifier: Apache-2.0
#include "shm/event_follower.h"

#include "shm/clock.h"
#include "shm/discovery.h"

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

bool is_dead_name(const std::filesystem::path& path) { return path.extension() == ".dead"; }

}  // namespace

Result<EventFollower> EventFollower::attach(const Target& target, const EventPosition& after) {
  Result<SegmentReader> reader = open(target);
  if (!reader) return reader.error();
  EventFollower follower(target, std::move(*reader));
  if (!after.incarnation.empty()) follower.go_on_after(after);
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
  batch.engines_missed = std::exchange(engines_missed_, 0);
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
  const bool is_other_engine = fresh.identity().incarnation != reader_.identity().incarnation;
  reader_ = std::move(fresh);
  if (!is_other_engine) return;
  is_switched_ = true;
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

void EventFollower::go_on_after(const EventPosition& position) {
  const SegmentIdentity current = reader_.identity();
  if (current.incarnation != position.incarnation && !target_.file) {
    const auto dead_path = dead_path_of(current.path, position.incarnation);
    if (Result<SegmentReader> dead = SegmentReader::attach(dead_path, target_.options)) {
      if (dead->identity().incarnation == position.incarnation) reader_ = std::move(*dead);
    }
  }
  if (reader_.identity().incarnation == position.incarnation) {
    last_sequence_ = position.sequence;
    return;
  }
  is_switched_ = true;
  if (target_.file) return;
  // The oldest dead segments are removed first, so those that are left are of later engines.
  engines_missed_ = 1;
  if (auto unread = oldest_unread(current, 0)) reader_ = std::move(*unread);
}

std::optional<SegmentReader> EventFollower::successor() {
  if (target_.file) return std::nullopt;
  const bool is_linked = reader_.liveness().name_linked;
  if (is_linked && !is_dead_name(reader_.identity().path)) return std::nullopt;
  Result<SegmentReader> current = open(target_);
  if (!current) return std::nullopt;
  const SegmentIdentity& own = reader_.identity();
  if (current->identity().incarnation == own.incarnation) {
    if (is_linked) return std::nullopt;
    return std::move(*current);
  }
  // Beats of another boot cannot be compared: all engines of this one came later.
  Snapshot last;
  const bool is_of_this_boot = own.boot_id == current->identity().boot_id;
  const bool is_known = is_of_this_boot && reader_.snapshot(last).has_value();
  const std::uint64_t last_beat_ns = is_known ? last.heartbeat_monotonic_ns : 0;
  if (!is_of_this_boot || is_known) {
    if (auto unread = oldest_unread(current->identity(), last_beat_ns)) return unread;
  }
  return std::move(*current);
}

// Of the dead segments beside the current one, the first that beat last after `after_beat_ns`.
std::optional<SegmentReader> EventFollower::oldest_unread(const SegmentIdentity& current,
                                                          std::uint64_t after_beat_ns) const {
  const std::string instance = instance_part(current.path);
  std::optional<SegmentReader> oldest;
  std::uint64_t oldest_beat_ns = 0;
  for (const SegmentName& name : list_segments({{current.path.parent_path()}})) {
    if (!name.named_dead || name.instance != instance) continue;
    Result<SegmentReader> dead = SegmentReader::attach(name.path, target_.options);
    if (!dead || dead->identity().boot_id != current.boot_id) continue;
    const std::string& incarnation = dead->identity().incarnation;
    const bool is_named_rightly = dead_path_of(current.path, incarnation) == name.path;
    if (!is_named_rightly || incarnation == reader_.identity().incarnation) continue;
    Snapshot last;
    if (!dead->snapshot(last) || last.heartbeat_monotonic_ns <= after_beat_ns) continue;
    if (oldest && last.heartbeat_monotonic_ns >= oldest_beat_ns) continue;
    oldest_beat_ns = last.heartbeat_monotonic_ns;
    oldest = std::move(*dead);
  }
  return oldest;
}

}  // namespace vitrine::shm
