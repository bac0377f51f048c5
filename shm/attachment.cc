// SPDX-License-Identifier: Apache-2.0
#include "shm/attachment.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "shm/clock.h"

namespace vitrine::shm {

std::uint64_t Observation::snapshot_age_ns() const {
  if (!snapshot) return 0;
  const std::uint64_t since_taken_ns = observed_monotonic_ns - snapshot->taken_monotonic_ns;
  return is_alive(verdict.word) || verdict.word == VerdictWord::kHung
             ? since_taken_ns
             : since_taken_ns + snapshot->heartbeat_age_ns;
}

Attachment::Attachment(Target target) : target_(std::move(target)) {}

const Observation& Attachment::observe() {
  observation_.error.reset();
  if (reader_) observation_.liveness = reader_->liveness();
  if (target_.file) {
    open_file_once();
  } else if (!observation_.liveness.lock_held || !observation_.liveness.name_linked) {
    find_segment_again();
  }
  if (reader_) take_snapshot();
  observation_.observed_monotonic_ns = monotonic_ns();
  if (observation_.error) {
    observation_.verdict = {VerdictWord::kUnreadable, observation_.error->text};
  } else {
    const RecordingReader* recording = reader_->recording();
    heartbeat_.observe(*observation_.snapshot, observation_.observed_monotonic_ns);
    if (recording != nullptr) heartbeat_.take_recorded(recording->moment().heartbeat_stood_ns);
    observation_.verdict =
        judge({observation_.identity, *observation_.snapshot, observation_.liveness, heartbeat_});
    if (recording != nullptr) observation_.verdict.reason += " [" + recording->note() + "]";
  }
  return observation_;
}

const Observation& Attachment::observe_settled() {
  observe();
  if (observation_.error || !observation_.liveness.lock_held) return observation_;
  if (observation_.liveness.is_file) return observation_;
  const std::uint64_t interval_ns = credible_interval_ns(*observation_.snapshot);
  const std::uint64_t count = observation_.snapshot->heartbeat;
  const std::uint64_t deadline_ns = monotonic_ns() + 4 * interval_ns;
  if (observation_.snapshot->heartbeat_age_ns <= 3 * interval_ns) return observation_;
  while (!observation_.error && observation_.liveness.lock_held &&
         observation_.snapshot->heartbeat == count && !heartbeat_.stands() &&
         monotonic_ns() < deadline_ns) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(interval_ns / 2));
    observe();
  }
  return observation_;
}

void Attachment::open_file_once() {
  if (reader_) return;
  if (auto file = SegmentReader::open_file(*target_.file)) {
    attach_to(std::move(*file));
  } else {
    observation_.error = file.error();
  }
}

// Prefers a live engine anywhere to a dead one that is found earlier; keeps what it has when there
// is nothing better.
void Attachment::find_segment_again() {
  std::optional<SegmentReader> dead;
  std::optional<Error> first_error;
  for (const auto& path : segment_candidates(target_.instance, target_.path, target_.places)) {
    const bool is_attached = reader_ && reader_->identity().path == path;
    if (is_attached && observation_.liveness.name_linked) continue;
    auto found = SegmentReader::attach(path, target_.options);
    if (!found) {
      if (!first_error && found.error().kind != ErrorKind::kAbsent) first_error = found.error();
    } else if (found->liveness().lock_held) {
      return attach_to(std::move(*found));
    } else if (!dead) {
      dead = std::move(*found);
    }
  }
  // A dead engine whose name was taken by another dead one: the later is the one to show. A live
  // engine that lost its name is not given up for it.
  const bool keeps_own =
      reader_ && (observation_.liveness.name_linked || observation_.liveness.lock_held);
  if (dead && !keeps_own) return attach_to(std::move(*dead));
  if (reader_) return;
  if (!first_error) {
    const auto path = find_segment(target_.instance, target_.path, target_.places);
    first_error =
        path ? Error{ErrorKind::kAbsent, path->string() + ": no such segment"} : path.error();
  }
  observation_.error = std::move(first_error);
}

void Attachment::attach_to(SegmentReader reader) {
  reader_ = std::move(reader);
  heartbeat_ = {};
  observation_.liveness = reader_->liveness();
  ++observation_.attachments;
}

void Attachment::take_snapshot() {
  Snapshot fresh = std::move(observation_.snapshot).value_or(Snapshot{});
  Result<void> taken = reader_->snapshot(fresh);
  observation_.liveness = reader_->liveness();
  // It may have said goodbye after it was copied; now that it is gone nothing changes any more.
  if (taken && !observation_.liveness.lock_held) taken = reader_->snapshot(fresh);
  // A failed snapshot leaves `fresh` as it was: the last good one, when there ever was one.
  if (!fresh.incarnation.empty()) observation_.snapshot = std::move(fresh);
  if (!taken) {
    observation_.error = taken.error();
  } else if (observation_.identity.incarnation != reader_->identity().incarnation) {
    observation_.identity = reader_->identity();
  }
}

int exit_code_of(const Observation& observation) {
  constexpr int kNoSuchInstance = 3;
  const bool is_absent = observation.error && observation.error->kind == ErrorKind::kAbsent;
  return is_absent ? kNoSuchInstance : exit_code_of(observation.verdict.word);
}

}  // namespace vitrine::shm
