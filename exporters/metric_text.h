// SPDX-License-Identifier: Apache-2.0
// Metrics as text: the only place where exporters turn them into what Prometheus reads.
//
// Layout   Prometheus text 0.0.4, or OpenMetrics 1.0. Families without samples are left out. Any
//          bytes may stand in labels and help texts: what is not UTF-8, and control characters but
//          the line feed, become U+FFFD. Numbers are exact and know no locale; there is no NaN.
// Threads  pure.
// Why      a NUL or a carriage return is allowed by both formats and ends a line or a value in real
//          parsers.
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

// What the text makes of a label's value, before it escapes it: values that look the same there
// must be one value already here.
std::string repaired_label(std::string_view bytes);

}  // namespace vitrine::exporters
