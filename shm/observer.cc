// SPDX-License-Identifier: Apache-2.0
#include "shm/observer.h"

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

const Observation& Observer::look(SegmentReader& reader) {
  observation_.error.reset();
  take_snapshot(reader);
  observation_.observed_monotonic_ns = monotonic_ns();
  if (observation_.error) {
    observation_.verdict = {VerdictWord::kUnreadable, observation_.error->text};
    return observation_;
  }
  const RecordingReader* recording = reader.recording();
  heartbeat_.observe(*observation_.snapshot, observation_.observed_monotonic_ns);
  if (recording != nullptr) heartbeat_.take_recorded(recording->moment().heartbeat_stood_ns);
  observation_.verdict =
      judge({observation_.identity, *observation_.snapshot, observation_.liveness, heartbeat_});
  if (recording != nullptr) observation_.verdict.reason += " [" + recording->note() + "]";
  return observation_;
}

const Observation& Observer::look_in_vain(const Error& why) {
  observation_.error = why;
  observation_.observed_monotonic_ns = monotonic_ns();
  observation_.verdict = {VerdictWord::kUnreadable, why.text};
  return observation_;
}

void Observer::begin_segment() {
  heartbeat_ = {};
  ++observation_.attachments;
}

void Observer::take_snapshot(SegmentReader& reader) {
  Snapshot fresh = std::move(observation_.snapshot).value_or(Snapshot{});
  Result<void> taken = reader.snapshot(fresh);
  observation_.liveness = reader.liveness();
  // It may have said goodbye after it was copied; now that it is gone nothing changes any more.
  if (taken && !observation_.liveness.lock_held) taken = reader.snapshot(fresh);
  // A failed snapshot leaves `fresh` as it was: the last good one, when there ever was one.
  if (!fresh.incarnation.empty()) observation_.snapshot = std::move(fresh);
  if (!taken) {
    observation_.error = taken.error();
  } else if (observation_.identity.incarnation != reader.identity().incarnation) {
    observation_.identity = reader.identity();
  }
}

int exit_code_of(const Observation& observation) {
  constexpr int kNoSuchInstance = 3;
  const bool is_absent = observation.error && observation.error->kind == ErrorKind::kAbsent;
  return is_absent ? kNoSuchInstance : exit_code_of(observation.verdict.word);
}

}  // namespace vitrine::shm
