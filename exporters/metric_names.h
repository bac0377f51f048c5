// SPDX-License-Identifier: Apache-2.0
// What metrics are called: a field of the catalogue by a rule, a family of several values by the
// one table here. A name that comes from neither does not exist.
//
// Layout   of a field: the prefix of its table, its name, its unit, and _total for a counter; so a
//          new row of the catalogue is a metric without a line of code here.
// Threads  pure.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "exporters/metric_family.h"
#include "shm/catalogue.h"

namespace vitrine::exporters {

struct FieldMetric {
  std::string name;
  MetricType type;
  std::string_view help;

  MetricDescription description() const { return {name, type, help}; }
};

// The metric of a numeric field or an instant of `table`, whose metrics begin with `prefix`.
// Nothing for texts, words, identities, and fields that a family of the table below is made of.
std::optional<FieldMetric> metric_of(shm::SectionId table, std::string_view prefix,
                                     const shm::Field& field);

// Families that are more than one field, or tell of no field but of the engine's life, of the
// segment, or of the exporter itself.
inline constexpr MetricDescription kComposedFamilies[] = {
    {"vitrine_up", MetricType::kGauge,
     "1 while the engine lives; otherwise its metrics are absent"},
    {"vitrine_build_info", MetricType::kInfo, "version of the engine and of its segment's layout"},
    {"vitrine_engine_info", MetricType::kInfo, "which engine it is and what it computes with"},
    {"vitrine_start_time_seconds", MetricType::kGauge, "when the engine made its segment"},
    {"vitrine_ready", MetricType::kGauge, "1 while the engine takes work"},
    {"vitrine_verdict", MetricType::kGauge, "1 for the verdict that holds"},
    {"vitrine_heartbeat_timestamp_seconds", MetricType::kGauge, "when the engine last beat"},
    {"vitrine_jobs", MetricType::kGauge, "jobs that have not ended, by state"},
    {"vitrine_jobs_finished_total", MetricType::kCounter, "jobs that ended, by result"},
    {"vitrine_jobs_rejected_total", MetricType::kCounter,
     "jobs refused, for those reasons that are counted apart"},
    {"vitrine_partitions", MetricType::kGauge, "partitions of such jobs, by state"},
    {"vitrine_partitions_finished_total", MetricType::kCounter, "partitions that ended, by result"},
    {"vitrine_partition_phase_duration_seconds", MetricType::kHistogram,
     "time that partitions spent in a phase; done: from created to done"},
    {"vitrine_memory_reserved_bytes", MetricType::kGauge, "bytes of the budget reserved, for what"},
    {"vitrine_srs_evictable", MetricType::kGauge, "1 while the points could be evicted"},
    {"vitrine_pce_evictable", MetricType::kGauge, "1 while the matrices could be evicted"},
    {"vitrine_synthesis_waiting", MetricType::kGauge,
     "partitions that wait for a synthesis thread"},
    {"vitrine_buffers_in_flight", MetricType::kGauge, "buffers and partitions on their way"},
    {"vitrine_worker_info", MetricType::kInfo, "device that a worker feeds"},
    {"vitrine_worker_busy", MetricType::kGauge, "1 while it proves"},
    {"vitrine_worker_partitions_total", MetricType::kCounter,
     "partitions that it ended, by result"},
    {"vitrine_device_info", MetricType::kInfo, "kind and model of the device"},
    {"vitrine_device_up", MetricType::kGauge, "1 while it takes work without a complaint"},
    {"vitrine_device_state", MetricType::kGauge, "1 for the state that it is in"},
    {"vitrine_plane_commits_total", MetricType::kCounter, "transactions that the engine published"},
    {"vitrine_plane_events_total", MetricType::kCounter, "events that the engine published"},
    {"vitrine_plane_rows", MetricType::kGauge, "rows of a table of the segment"},
    {"vitrine_plane_rows_used", MetricType::kGauge, "rows of a table that are in use"},
    {"vitrine_exporter_build_info", MetricType::kInfo, "version of the exporter"},
    {"vitrine_exporter_snapshot_duration_seconds", MetricType::kSummary,
     "time that looks at the engine took"},
    {"vitrine_exporter_snapshot_age_seconds", MetricType::kGauge,
     "time since what is shown was the engine's state"},
    {"vitrine_exporter_snapshot_retries_total", MetricType::kCounter,
     "times a snapshot began again because the engine was faster"},
    {"vitrine_exporter_snapshots_inconsistent_total", MetricType::kCounter,
     "snapshots that are not of one moment"},
    {"vitrine_exporter_failures_total", MetricType::kCounter, "looks at the engine that failed"},
    {"vitrine_exporter_reattaches_total", MetricType::kCounter,
     "times that another segment was attached in place of one"},
    {"vitrine_exporter_labels_folded", MetricType::kGauge,
     "values of a label that are shown as other, to keep it within its bound"},
    {"vitrine_http_requests_total", MetricType::kCounter, "answers sent, by status"},
    {"vitrine_http_connections", MetricType::kGauge, "connections open"},
    {"vitrine_http_connections_accepted_total", MetricType::kCounter, "connections accepted"},
    {"process_start_time_seconds", MetricType::kGauge, "when the exporter started"},
    {"process_cpu_seconds_total", MetricType::kCounter, "CPU time that the exporter used"},
    {"process_resident_memory_bytes", MetricType::kGauge, "resident memory of the exporter"},
    {"process_virtual_memory_bytes", MetricType::kGauge, "virtual memory of the exporter"},
    {"process_open_fds", MetricType::kGauge, "descriptors that the exporter has open"},
    {"process_max_fds", MetricType::kGauge, "descriptors that it may have open"},
};

// A row of the table; a name that is not there does not compile.
consteval MetricDescription composed(std::string_view name) {
  for (const MetricDescription& row : kComposedFamilies) {
    if (row.name == name) return row;
  }
  throw std::logic_error("no such family");
}

}  // namespace vitrine::exporters
