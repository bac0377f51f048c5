// SPDX-License-Identifier: Apache-2.0
#include "shm/snapshot.h"

#include <algorithm>

namespace vitrine::shm {

// Sums are modulo 2^64, as the segment's own: untrusted values may not overflow a signed number.

std::vector<PartitionRecord> Snapshot::partitions_of(Id job) const {
  std::vector<PartitionRecord> partitions;
  for (const PartitionRecord& row : rows<PartitionRecord>()) {
    if (row.job == job) partitions.push_back(row);
  }
  std::ranges::stable_sort(partitions, {}, &PartitionRecord::partition);
  return partitions;
}

std::int64_t Snapshot::age_ns(Instant instant) const {
  return static_cast<std::int64_t>(heartbeat_monotonic_ns - instant.ns + heartbeat_age_ns);
}

std::uint64_t Snapshot::last_sign_age_ns() const {
  const std::uint64_t words_ns = last_words.written == 0 ? 0 : last_words.time.ns;
  if (words_ns <= heartbeat_monotonic_ns) return heartbeat_age_ns;
  const std::uint64_t after_beat_ns = words_ns - heartbeat_monotonic_ns;
  // Words of a time that is still to come cannot be believed.
  return after_beat_ns <= heartbeat_age_ns ? heartbeat_age_ns - after_beat_ns : heartbeat_age_ns;
}

std::int64_t Snapshot::unix_ns_of(Instant instant) const {
  return static_cast<std::int64_t>(instant.ns +
                                   static_cast<std::uint64_t>(unix_minus_monotonic_ns));
}

std::int64_t Snapshot::taken_unix_ns() const {
  return unix_ns_of(Instant{heartbeat_monotonic_ns + heartbeat_age_ns});
}

}  // namespace vitrine::shm
