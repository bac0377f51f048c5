// SPDX-License-Identifier: Apache-2.0
#include "exporters/exporter_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "exporters/metric_names.h"

namespace vitrine::exporters {
namespace {

// Pages of /proc/self/statm: the first number is all of the memory, the second what is resident.
struct PagesInUse {
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
};

std::optional<PagesInUse> pages_in_use() {
  std::ifstream file("/proc/self/statm");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  PagesInUse pages;
  const char* const end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, pages.all);
  if (first.ec != std::errc() || first.ptr == end) return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, pages.resident);
  return second.ec == std::errc() ? std::optional(pages) : std::nullopt;
}

// Without the one that the listing itself needs.
std::optional<std::uint64_t> open_descriptors() {
  std::error_code fault;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", fault), end;
       !fault && entry != end; entry.increment(fault)) {
    ++count;
  }
  if (fault || count == 0) return std::nullopt;
  return count - 1;
}

}  // namespace

void add_exporter_metrics(MetricFamilies& families, const Moment& moment) {
  const WatchStatistics& statistics = moment.statistics;
  families.add(composed("vitrine_exporter_build_info"), {{"version", VITRINE_VERSION}},
               std::uint64_t{1});
  MetricDistribution looks;
  looks.beyond = statistics.looks;
  looks.sum.ns = statistics.duration_ns;
  families.add(composed("vitrine_exporter_snapshot_duration_seconds"), {}, looks);
  families.add(composed("vitrine_exporter_snapshot_retries_total"), {}, statistics.retries);
  families.add(composed("vitrine_exporter_snapshots_inconsistent_total"), {},
               statistics.inconsistent);
  families.add(composed("vitrine_exporter_failures_total"), {}, statistics.failures);
  const std::uint64_t attachments = moment.observation.attachments;
  families.add(composed("vitrine_exporter_reattaches_total"), {},
               attachments - std::min<std::uint64_t>(attachments, 1));
  if (is_gone(moment.observation)) return;
  families.add(composed("vitrine_exporter_snapshot_age_seconds"), {},
               MetricDuration{moment.observation.snapshot_age_ns()});
}

void add_http_metrics(MetricFamilies& families, const HttpActivity& activity) {
  for (std::size_t place = 0; place <= HttpActivity::kStatuses.size(); ++place) {
    const std::string code = place < HttpActivity::kStatuses.size()
                                 ? std::to_string(HttpActivity::kStatuses[place])
                                 : "other";
    families.add(composed("vitrine_http_requests_total"), {{"code", code}},
                 activity.answers(place));
  }
  families.add(composed("vitrine_http_connections"), {}, activity.connections_open());
  families.add(composed("vitrine_http_connections_accepted_total"), {},
               activity.connections_accepted());
}

void add_process_metrics(MetricFamilies& families, std::int64_t started_unix_ns) {
  families.add(composed("process_start_time_seconds"), {}, MetricTime{started_unix_ns});
  timespec used{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0) {
    const auto used_ns = static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 +
                         static_cast<std::uint64_t>(used.tv_nsec);
    families.add(composed("process_cpu_seconds_total"), {}, MetricDuration{used_ns});
  }
  if (const auto pages = pages_in_use()) {
    const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    families.add(composed("process_resident_memory_bytes"), {}, pages->resident * page_bytes);
    families.add(composed("process_virtual_memory_bytes"), {}, pages->all * page_bytes);
  }
  if (const auto count = open_descriptors()) {
    families.add(composed("process_open_fds"), {}, *count);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    families.add(composed("process_max_fds"), {}, std::uint64_t{limit.rlim_cur});
  }
}

}  // namespace vitrine::exporters
