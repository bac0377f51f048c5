// SPDX-License-Identifier: Apache-2.0
// The compatible `/status` answer: the shape that existing clients of the model system read.
//
// Layout   keys and types exactly as those clients know them; times are floats in seconds,
//          durations of stages whole milliseconds or null. Jobs are in the order they were
//          submitted, partitions by number, allocations and workers in row order.
// Units    seconds and milliseconds, as the keys say; bytes.
// Threads  pure.
#pragma once

#include <boost/json/object.hpp>

#include "shm/snapshot.h"

namespace vitrine::exporters {

// A finished job stays in `pipelines` for 30 s after its end.
boost::json::object status_document(const shm::Snapshot& snapshot);

}  // namespace vitrine::exporters
