// SPDX-License-Identifier: Apache-2.0
// Metric families as lines of StatsD.
//
// Layout   a counter is its rise (|c), everything else a gauge (|g); a histogram is the counters
//          NAME_count and NAME_sum. Plain: labels are parts of the name, NAME.label.value;
//          DogStatsD: they are tags. A byte of a label's value that could end a part is `_`.
//          An info is left out: its labels would make a new series of every start.
// Units    as the families': seconds, bytes. Numbers are exact decimals that know no locale; none
//          can be infinite or not a number.
// Why      a gauge with a sign is a change to receivers, so one below zero is set to 0 first, in
//          the same unit, hence in the same datagram.
// Threads  one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exporters/counter_deltas.h"
#include "exporters/metric_family.h"

namespace vitrine::exporters {

enum class StatsdFormat : std::uint8_t { kPlain, kDogstatsd };

struct StatsdStyle {
  StatsdFormat format = StatsdFormat::kPlain;
  std::string prefix = {};  // before every name, as it is
};

// Units for pack_lines(). The caller has begun the flush of `deltas`.
std::vector<std::string> statsd_lines(const MetricFamilies& families, const StatsdStyle& style,
                                      CounterDeltas& deltas);

}  // namespace vitrine::exporters
