// SPDX-License-Identifier: Apache-2.0
#include "shm/attachment.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "shm/clock.h"

namespace vitrine::shm {

Attachment::Attachment(Target target) : target_(std::move(target)) {}

const Observation& Attachment::observe() {
  Liveness liveness;
  if (reader_) liveness = reader_->liveness();
  std::optional<Error> why_not;
  if (target_.file) {
    why_not = open_file_once();
  } else if (!liveness.lock_held || !liveness.name_linked) {
    why_not = find_segment_again(liveness);
  }
  return reader_ ? observer_.look(*reader_) : observer_.look_in_vain(*why_not);
}

const Observation& Attachment::observe_settled() {
  const Observation& seen = observe();
  if (seen.error || !seen.liveness.lock_held || seen.liveness.is_file) return seen;
  const std::uint64_t interval_ns = credible_interval_ns(*seen.snapshot);
  const std::uint64_t count = seen.snapshot->heartbeat;
  const std::uint64_t deadline_ns = monotonic_ns() + 4 * interval_ns;
  if (seen.snapshot->heartbeat_age_ns <= 3 * interval_ns) return seen;
  while (!seen.error && seen.liveness.lock_held && seen.snapshot->heartbeat == count &&
         !observer_.heartbeat().stands() && monotonic_ns() < deadline_ns) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(interval_ns / 2));
    observe();
  }
  return seen;
}

std::optional<Error> Attachment::open_file_once() {
  if (reader_) return std::nullopt;
  Result<SegmentReader> file = SegmentReader::open_file(*target_.file);
  if (!file) return file.error();
  attach_to(std::move(*file));
  return std::nullopt;
}

// Prefers a live engine anywhere to a dead one that is found earlier; keeps what it has when there
// is nothing better.
std::optional<Error> Attachment::find_segment_again(const Liveness& liveness) {
  std::optional<SegmentReader> dead;
  std::optional<Error> first_error;
  for (const auto& path : segment_candidates(target_.instance, target_.path, target_.places)) {
    const bool is_attached = reader_ && reader_->identity().path == path;
    if (is_attached && liveness.name_linked) continue;
    auto found = SegmentReader::attach(path, target_.options);
    if (!found) {
      if (!first_error && found.error().kind != ErrorKind::kAbsent) first_error = found.error();
    } else if (found->liveness().lock_held) {
      attach_to(std::move(*found));
      return std::nullopt;
    } else if (!dead) {
      dead = std::move(*found);
    }
  }
  // A dead engine whose name was taken by another dead one: the later is the one to show. A live
  // engine that lost its name is not given up for it.
  const bool keeps_own = reader_ && (liveness.name_linked || liveness.lock_held);
  if (dead && !keeps_own) attach_to(std::move(*dead));
  if (reader_) return std::nullopt;
  if (!first_error) {
    const auto path = find_segment(target_.instance, target_.path, target_.places);
    first_error =
        path ? Error{ErrorKind::kAbsent, path->string() + ": no such segment"} : path.error();
  }
  return first_error;
}

void Attachment::attach_to(SegmentReader reader) {
  reader_ = std::move(reader);
  observer_.begin_segment();
}

}  // namespace vitrine::shm
