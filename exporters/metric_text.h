// SPDX-License-Identifier: Apache-2.0
// Metrics as text: the only place where exporters turn them into what Prometheus reads.
//
// Layout   Prometheus text 0.0.4, or OpenMetrics 1.0. Families without samples are left out.
//          Numbers are exact, times of day to the millisecond; none knows a locale or is NaN.
// Threads  pure.
// Source   https://prometheus.io/docs/instrumenting/exposition_formats, and the OpenMetrics
//          specification, version 1.0.0.
#pragma once

#include <string>
#include <string_view>

#include "exporters/metric_family.h"

namespace vitrine::exporters {

enum class MetricFormat : std::uint8_t { kPrometheusText, kOpenMetrics };

std::string_view content_type_of(MetricFormat format);

std::string metric_text(const MetricFamilies& families, MetricFormat format);

}  // namespace vitrine::exporters
