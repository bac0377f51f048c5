// SPDX-License-Identifier: Apache-2.0
// Makes of a segment's bytes those of an engine that is long dead, the same on every machine.
#pragma once

#include <cstring>
#include <string>

#include "shm/layout.h"

namespace vitrine::shm {

// The last beat of such an engine. It lies in the year 2100: for a beat of another boot that is
// still to come a reader counts no time, so that the ages it shows do not depend on the day.
inline constexpr std::uint64_t kDeadBeatNs = 3'600'000'000'000;
inline constexpr std::uint64_t kDeadUnixNs = 4'102'444'800'000'000'000;

template <class Part>
Part part_at(const std::string& bytes, std::size_t offset_bytes) {
  Part part;
  std::memcpy(&part, bytes.data() + offset_bytes, sizeof(part));
  return part;
}

template <class Part>
void set_part(std::string& bytes, std::size_t offset_bytes, const Part& part) {
  std::memcpy(bytes.data() + offset_bytes, &part, sizeof(part));
}

inline void settle_dead(std::string& bytes) {
  auto header = part_at<Header>(bytes, 0);
  for (std::uint8_t i = 0; i < 16; ++i) header.incarnation[i] = i * 17;
  for (std::uint8_t i = 0; i < 16; ++i) header.boot_id[i] = 0xB0 + i;
  header.pid = 4711;
  header.pid_namespace_inode = 4'026'531'836;
  header.process_start_ticks = 123'456;
  header.uid = 998;
  header.created_unix_ns = kDeadUnixNs - kDeadBeatNs;
  header.host = {'p', 'r', 'o', 'v', 'e', 'r', '-', '1'};
  set_part(bytes, 0, header);
  HotLines hot = part_at<HotLines>(bytes, header.fixed.header_bytes);
  hot.heartbeat.count = 36'000;
  hot.heartbeat.monotonic_ns = kDeadBeatNs;
  hot.time_anchor.unix_minus_monotonic_ns = kDeadUnixNs - kDeadBeatNs;
  set_part(bytes, header.fixed.header_bytes, hot);
}

}  // namespace vitrine::shm
