// SPDX-License-Identifier: Apache-2.0
// An exporter's metrics of itself: how its looks at the engine went, what its HTTP server did, what
// its process uses.
//
// Threads  any.
#pragma once

#include <cstdint>

#include "exporters/http_activity.h"
#include "exporters/metric_family.h"
#include "exporters/watched_engine.h"

namespace vitrine::exporters {

void add_exporter_metrics(MetricFamilies& families, const Moment& moment);
void add_http_metrics(MetricFamilies& families, const HttpActivity& activity);

// Reads /proc; what is not to be had there is absent.
void add_process_metrics(MetricFamilies& families, std::int64_t started_unix_ns);

}  // namespace vitrine::exporters
