// SPDX-License-Identifier: Apache-2.0
#include "engine/stage_timings.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace vitrine::engine {

void StageTimings::add(std::string_view stage, std::uint64_t begin_ns, std::uint64_t end_ns) {
  if (begin_ns == 0 || end_ns < begin_ns) return;
  auto row = std::find_if(rows_.begin(), rows_.end(),
                          [&](const Row& candidate) { return candidate.stage == stage; });
  if (row == rows_.end()) row = rows_.insert(rows_.end(), Row{std::string(stage), 0, 0});
  ++row->runs;
  row->total_ns += end_ns - begin_ns;
}

std::string StageTimings::table() const {
  std::string text = "stage              runs    total_ms     mean_ms\n";
  for (const Row& row : rows_) {
    const double total_ms = static_cast<double>(row.total_ns) / 1e6;
    std::array<char, 96> line;
    std::snprintf(line.data(), line.size(), "%-16.16s %6llu %11.1f %11.1f\n", row.stage.c_str(),
                  static_cast<unsigned long long>(row.runs), total_ms,
                  total_ms / static_cast<double>(row.runs));
    text += line.data();
  }
  return text;
}

}  // namespace vitrine::engine
