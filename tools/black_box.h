// SPDX-License-Identifier: Apache-2.0
// Finds the segment that tells how an instance's last engine ended.
//
// Why   a dead engine's segment has its name only until the next engine starts; then it lies
//       beside it under a name of its own, and the newest of those is the one that is meant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shm/attachment.h"
#include "tools/error.h"

namespace vitrine::tools {

struct BlackBox {
  shm::Attachment attachment;            // has a first observation with a snapshot
  std::vector<std::string> passed_over;  // why other files of such names were not taken
};

// Of an engine that is gone: the target's file, or the dead segment whose engine beat last of
// those that can be read and trusted. Errors: kNoInstance when none is dead, also in a recording,
// kUnreadable when none that may be can be read.
Result<BlackBox> attach_black_box(const shm::Target& target);

// The end of the event ring.
struct LastEvents {
  std::vector<shm::Event> events;
  std::string problem;  // why there are none, when the ring cannot be read
};
LastEvents read_last_events(shm::Attachment& attachment, std::uint64_t count);

// The history ring, oldest first; empty when there is none, or none that can be read.
std::vector<shm::HistorySample> read_history(shm::Attachment& attachment);

}  // namespace vitrine::tools
