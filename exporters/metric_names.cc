// SPDX-License-Identifier: Apache-2.0
#include "exporters/metric_names.h"

#include <algorithm>

namespace vitrine::exporters {
namespace {

using shm::FieldType;
using shm::SectionId;
using shm::Semantics;

// Fields whose metric has another name than the rule gives it; none: a composed family, or another
// metric, has what it tells.
struct Exception {
  SectionId table;
  std::string_view field;
  std::string_view metric = {};
};
constexpr Exception kExceptions[] = {
    {SectionId::kEngine, "started"},
    {SectionId::kEngine, "backend_fallbacks", "vitrine_backend_fallback_total"},
    {SectionId::kEngine, "recycled_rows", "vitrine_plane_recycled_rows_total"},
    {SectionId::kEngine, "refused_for_capacity"},
    {SectionId::kDevices, "state_since"},
    {SectionId::kDevices, "proofs_invalid", "vitrine_proofs_invalid_total"},
    {SectionId::kWorkers, "since"},
    {SectionId::kWorkers, "partitions_done"},
    {SectionId::kWorkers, "partitions_failed"},
    {SectionId::kMemory, "reserved_bytes"},
    {SectionId::kMemory, "srs_bytes"},
    {SectionId::kMemory, "pce_bytes"},
    {SectionId::kMemory, "working_bytes"},
    {SectionId::kMemory, "resident_bytes", "vitrine_process_resident_bytes"},
    {SectionId::kMemory, "refused_impossible"},
    {SectionId::kAllocations, "state_since"},
    {SectionId::kCounters, "received"},
    {SectionId::kCounters, "queued"},
    {SectionId::kCounters, "admitting"},
    {SectionId::kCounters, "running"},
    {SectionId::kCounters, "assembling"},
    {SectionId::kCounters, "done"},
    {SectionId::kCounters, "failed"},
    {SectionId::kCounters, "cancelled"},
    {SectionId::kCounters, "refused"},
    {SectionId::kCounters, "lost"},
    {SectionId::kCounters, "partitions_done"},
    {SectionId::kCounters, "partitions_cancelled"},
    {SectionId::kCounters, "partitions_failed", "vitrine_partitions_failed_total"},
    {SectionId::kCounters, "partitions_retried", "vitrine_partition_retries_total"},
    {SectionId::kCounters, "deadlines_missed", "vitrine_deadline_missed_total"},
};

// Of a field that an engine added through the C interface nobody said how it behaves.
bool is_number(const shm::Field& field) {
  return (field.type == FieldType::kU32 || field.type == FieldType::kU64) &&
         (field.semantics != Semantics::kInfo || field.name.starts_with("x_"));
}

std::string name_by_rule(std::string_view prefix, const shm::Field& field) {
  std::string name = std::string(prefix) + std::string(field.name);
  if (field.type == FieldType::kInstant) return name + "_timestamp_seconds";
  if (name.ends_with("_ns")) name.replace(name.size() - 2, 2, "seconds");
  return field.semantics == Semantics::kCounter ? name + "_total" : name;
}

}  // namespace

std::optional<FieldMetric> metric_of(SectionId table, std::string_view prefix,
                                     const shm::Field& field) {
  if (field.type != FieldType::kInstant && !is_number(field)) return std::nullopt;
  FieldMetric metric{name_by_rule(prefix, field), MetricType::kGauge, field.help};
  if (is_number(field) && field.semantics == Semantics::kCounter) {
    metric.type = MetricType::kCounter;
  }
  const auto exception = std::ranges::find_if(kExceptions, [&](const Exception& row) {
    return row.table == table && row.field == field.name;
  });
  if (exception == std::end(kExceptions)) return metric;
  if (exception->metric.empty()) return std::nullopt;
  metric.name = exception->metric;
  return metric;
}

}  // namespace vitrine::exporters
