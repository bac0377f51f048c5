// SPDX-License-Identifier: Apache-2.0
// The verdict on an engine: one word, and the evidence for it in words.
#pragma once

#include <cstdint>
#include <string>

#include "shm/heartbeat_watch.h"
#include "shm/liveness.h"
#include "shm/segment_reader.h"
#include "shm/snapshot.h"

namespace vitrine::shm {

// In order of precedence.
enum class VerdictWord : std::uint32_t {
  kUnreadable,
  kExited,
  kDead,
  kHung,
  kStarting,
  kDraining,
  kDegraded,
  kBusy,
  kIdle
};
template <>
struct WordList<VerdictWord> {
  static constexpr std::string_view kWords[] = {
      "unreadable", "exited", "dead", "hung", "starting", "draining", "degraded", "busy", "idle"};
};

struct Verdict {
  VerdictWord word = VerdictWord::kUnreadable;
  std::string reason;  // one line
};

// Everything a verdict rests on.
struct Evidence {
  const SegmentIdentity& identity;
  const Snapshot& snapshot;
  const Liveness& liveness;
  const HeartbeatWatch& heartbeat;
};

Verdict judge(const Evidence& evidence);

// True for an engine that works: neither gone, hung nor unreadable.
constexpr bool is_alive(VerdictWord word) { return word >= VerdictWord::kStarting; }

// True for an engine that takes work now: one that starts or drains lives, but does not.
constexpr bool is_ready(VerdictWord word) { return word >= VerdictWord::kDegraded; }

// Exit code of the status commands: 0 well, 1 degraded or draining, 4 dead or exited, 5
// unreadable, 6 hung.
int exit_code_of(VerdictWord word);

}  // namespace vitrine::shm
