// SPDX-License-Identifier: Apache-2.0
// The metrics that are told by proof kind: jobs and partitions by state and result, and how long
// partitions stayed in each phase.
//
// Threads  pure.
#pragma once

#include "exporters/bounded_label.h"
#include "exporters/metric_family.h"
#include "shm/snapshot.h"

namespace vitrine::exporters {

inline constexpr std::size_t kProofKindsShown = 8;

void add_metrics_by_kind(MetricFamilies& families, const shm::Snapshot& snapshot,
                         BoundedLabel& kinds);

}  // namespace vitrine::exporters
