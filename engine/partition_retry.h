// SPDX-License-Identifier: Apache-2.0
// The ways back: a partition that is put back into the queue before its device began with it, and
// one that is begun again on another device because the first one failed it.
//
//   gpu_proving -> gpu_queued             put back; the same attempt, nothing is lost
//   gpu_proving, finishing -> pending     the next attempt: bytes are reserved and synthesis is
//   done
//                                         again, from the witness that was kept until then
//
// Threads  inside a change.
// Why      docs/decisions/0014: once, on another device, and only for what is the device's fault.
#pragma once

#include <memory>
#include <string_view>

#include "engine/job_lifecycle.h"
#include "engine/state.h"

namespace vitrine::engine {

void put_back(Change& change, Partition& partition, std::unique_ptr<Synthesized> made,
              std::string_view why);

// The end of an attempt on a device: the device is judged by it; then the partition is done, begins
// again on another device, or fails. Answers as finish_partition() does.
Job* end_attempt(Change& change, Partition& partition, PartitionEnd end);

// Fails a partition that waits and that no device which takes work may run, though there is one.
// When none takes work it waits on, visibly.
void fail_unless_placeable(Change& change, Partition& partition);

}  // namespace vitrine::engine
