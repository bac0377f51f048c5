// SPDX-License-Identifier: Apache-2.0
// Which of the two metric formats a client is answered in, by its Accept header.
//
// Threads  pure.
// Source   RFC 9110, 12.5.1.
#pragma once

#include "exporters/http_message.h"
#include "exporters/metric_text.h"

namespace vitrine::exporters {

// The format that the client gives the higher quality; of equal ones, and for a client that wants
// neither, Prometheus text: a scraper is better off with a text that it can read than with a
// refusal.
MetricFormat metric_format_for(const RequestHead& head);

}  // namespace vitrine::exporters
