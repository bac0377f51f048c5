// SPDX-License-Identifier: Apache-2.0
// One event as one line.
#pragma once

#include <string>

#include "shm/snapshot.h"

namespace vitrine::tools {

// Time in UTC, what happened, and to what; `clock` is a snapshot of the same incarnation.
std::string event_text(const shm::Event& event, const shm::Snapshot& clock);

}  // namespace vitrine::tools
