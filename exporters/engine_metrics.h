// SPDX-License-Identifier: Apache-2.0
// An engine's metrics: one observation as families of samples.
//
// Layout   labels are bounded: 8 proof kinds, 16 circuits, 16 devices, 64 workers, 8 limiters; the
//          rest is `other`. Without an engine that lives there is vitrine_up 0 and nothing else.
// Reader   counters are the engine's own sums, so a restart of the exporter changes none. What is
//          not known is absent. Fields that an engine adds to its rows are shown as ours are.
// Threads  pure.
#pragma once

#include "exporters/metric_family.h"
#include "shm/attachment.h"

namespace vitrine::exporters {

void add_engine_metrics(MetricFamilies& families, const shm::Observation& observation);

}  // namespace vitrine::exporters
