// SPDX-License-Identifier: Apache-2.0
#include "exporters/engine_metrics.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exporters/bounded_label.h"
#include "exporters/metric_names.h"
#include "exporters/metrics_by_kind.h"
#include "exporters/watched_engine.h"

namespace vitrine::exporters {
namespace {

using shm::Field;
using shm::Observation;
using shm::Snapshot;

constexpr std::size_t kCircuits = 16;
constexpr std::size_t kDevices = 16;
constexpr std::size_t kWorkers = 64;
constexpr std::size_t kLimiters = 8;
// Of one table, of those that only the segment's own schema knows: it may list hundreds.
constexpr std::size_t kUnknownFields = 16;

std::uint64_t one_when(bool is_so) { return is_so ? 1 : 0; }

// Nothing for an instant that is not set: it is not known.
std::optional<MetricValue> value_at(const Field& field, std::span<const std::byte> record,
                                    const Snapshot& clock) {
  if (field.offset_bytes + std::size_t{field.size_bytes} > record.size()) return std::nullopt;
  std::uint64_t number = 0;
  if (field.type == shm::FieldType::kU32) {
    std::uint32_t word = 0;
    std::memcpy(&word, record.data() + field.offset_bytes, sizeof word);
    number = word;
  } else {
    std::memcpy(&number, record.data() + field.offset_bytes, sizeof number);
  }
  if (field.type == shm::FieldType::kInstant) {
    if (number == 0) return std::nullopt;
    return MetricTime{clock.unix_ns_of(shm::Instant{number})};
  }
  if (field.name.ends_with("_ns")) return MetricDuration{number};
  return number;
}

// A row's labels; nothing for a row that is left out.
using RowLabels = std::optional<MetricLabels>;

// Adds every number of every row. The metrics' names begin with `prefix`.
template <class Record, class LabelsOf>
void add_rows(MetricFamilies& families, const Observation& observation, std::string_view prefix,
              LabelsOf&& labels_of) {
  constexpr shm::SectionId kTable = shm::TableOf<Record>::kSection;
  const Snapshot& snapshot = *observation.snapshot;
  const auto& rows = snapshot.rows<Record>();
  std::vector<RowLabels> labels;
  for (const Record& row : rows) labels.push_back(labels_of(row));
  const auto add = [&](const Field& field, auto&& bytes_of) {
    const auto metric = metric_of(kTable, prefix, field);
    MetricFamily* const family = metric ? families.family(metric->description()) : nullptr;
    if (family == nullptr) return;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!labels[i]) continue;
      if (const auto value = value_at(field, bytes_of(i), snapshot)) {
        family->add(*labels[i], *value);
      }
    }
  };
  for (const Field& field : shm::TableOf<Record>::kFields) {
    add(field, [&](std::size_t i) { return std::as_bytes(std::span(rows).subspan(i, 1)); });
  }
  const shm::SegmentSchema* const schema = observation.identity.schema.get();
  if (schema == nullptr) return;
  const auto& unknown = schema->unknown_fields(kTable);
  for (Field field : std::span(unknown).first(std::min(unknown.size(), kUnknownFields))) {
    field.offset_bytes -= schema->own_bytes(kTable);
    add(field, [&](std::size_t i) { return snapshot.extra_of<Record>(i); });
  }
}

void add_identity(MetricFamilies& families, const Observation& observation) {
  const shm::SegmentIdentity& identity = observation.identity;
  const shm::EngineRecord& engine = observation.snapshot->engine();
  const std::string layout = std::to_string(identity.major) + "." + std::to_string(identity.minor);
  families.add(composed("vitrine_build_info"),
               {{"version", identity.engine_version}, {"layout", layout}}, std::uint64_t{1});
  families.add(composed("vitrine_engine_info"),
               {{"instance", identity.instance},
                {"host", identity.host},
                {"incarnation", observation.snapshot->incarnation},
                {"requested_backend", std::string(shm::word(engine.requested_backend))},
                {"effective_backend", std::string(shm::word(engine.effective_backend))},
                {"kernel_path", std::string(engine.kernel_path.view())}},
               std::uint64_t{1});
}

// Not the instant in the engine's row: that is told by the monotonic clock, whose distance to the
// time of day is measured at each beat, and a start that moves looks like a restart.
void add_start(MetricFamilies& families, const shm::SegmentIdentity& identity) {
  if (identity.created_unix_ns == 0) return;
  families.add(composed("vitrine_start_time_seconds"), {},
               MetricTime{static_cast<std::int64_t>(identity.created_unix_ns)});
}

void add_life(MetricFamilies& families, const Observation& observation) {
  const Snapshot& snapshot = *observation.snapshot;
  const shm::VerdictWord verdict = observation.verdict.word;
  families.add(composed("vitrine_ready"), {}, one_when(shm::is_ready(verdict)));
  for (const std::string_view word : shm::WordList<shm::VerdictWord>::kWords) {
    families.add(composed("vitrine_verdict"), {{"verdict", std::string(word)}},
                 one_when(word == shm::word(verdict)));
  }
  const shm::Instant beat{snapshot.heartbeat_monotonic_ns};
  if (beat.is_set()) {
    families.add(composed("vitrine_heartbeat_timestamp_seconds"), {},
                 MetricTime{snapshot.unix_ns_of(beat)});
  }
  add_rows<shm::EngineRecord>(families, observation, "vitrine_",
                              [](const auto&) { return RowLabels(std::in_place); });
}

void add_memory(MetricFamilies& families, const Observation& observation) {
  add_rows<shm::MemoryRecord>(families, observation, "vitrine_memory_",
                              [](const auto&) { return RowLabels(std::in_place); });
  for (const shm::MemoryRecord& memory : observation.snapshot->rows<shm::MemoryRecord>()) {
    const auto add = [&](const char* consumer, std::uint64_t bytes) {
      families.add(composed("vitrine_memory_reserved_bytes"), {{"consumer", consumer}}, bytes);
    };
    add("srs", memory.srs_bytes);
    add("pce", memory.pce_bytes);
    add("working", memory.working_bytes);
  }
}

void add_allocations(MetricFamilies& families, const Observation& observation,
                     BoundedLabel& circuits) {
  const auto add = [&](shm::AllocationKind kind, std::string_view prefix,
                       const MetricDescription& evictable) {
    const auto labels_of = [&](const shm::AllocationRecord& held) {
      return held.kind == kind ? RowLabels({{"circuit", circuits.value_of(held.circuit.view())}})
                               : std::nullopt;
    };
    add_rows<shm::AllocationRecord>(families, observation, prefix, labels_of);
    for (const auto& held : observation.snapshot->rows<shm::AllocationRecord>()) {
      const bool is_evictable = held.state == shm::AllocationState::kReady &&
                                held.references == 0 && held.keep_resident == 0;
      if (const RowLabels labels = labels_of(held)) {
        families.add(evictable, *labels, one_when(is_evictable));
      }
    }
  };
  add(shm::AllocationKind::kSrs, "vitrine_srs_", composed("vitrine_srs_evictable"));
  add(shm::AllocationKind::kPce, "vitrine_pce_", composed("vitrine_pce_evictable"));
}

// Only the rows that count items of every priority: to a sum over a queue they are the whole.
void add_queues(MetricFamilies& families, const Observation& observation) {
  add_rows<shm::QueueRecord>(
      families, observation, "vitrine_queue_", [](const shm::QueueRecord& queue) {
        return queue.priority == shm::Priority::kUnknown
                   ? RowLabels({{"queue", std::string(shm::word(queue.name))}})
                   : std::nullopt;
      });
}

void add_limiters(MetricFamilies& families, const Observation& observation,
                  BoundedLabel& limiters) {
  add_rows<shm::LimiterRecord>(
      families, observation, "vitrine_limiter_", [&](const shm::LimiterRecord& limiter) {
        return RowLabels({{"limiter", limiters.value_of(limiter.name.view())}});
      });
  const auto add_rejected = [&](const char* reason, std::uint64_t jobs) {
    families.add(composed("vitrine_jobs_rejected_total"), {{"reason", reason}}, jobs);
  };
  const Snapshot& snapshot = *observation.snapshot;
  for (const shm::LimiterRecord& limiter : snapshot.rows<shm::LimiterRecord>()) {
    if (limiter.name.view() == "job_queue") add_rejected("queue_full", limiter.refused);
    if (limiter.name.view() == "synthesis") {
      families.add(composed("vitrine_synthesis_waiting"), {}, limiter.waiting);
    }
  }
  for (const shm::MemoryRecord& memory : snapshot.rows<shm::MemoryRecord>()) {
    add_rejected("impossible", memory.refused_impossible);
  }
  for (const shm::EngineRecord& engine : snapshot.rows<shm::EngineRecord>()) {
    add_rejected("status_capacity", engine.refused_for_capacity);
  }
}

void add_buffers(MetricFamilies& families, const Snapshot& snapshot) {
  for (const shm::BuffersRecord& buffers : snapshot.rows<shm::BuffersRecord>()) {
    const auto add = [&](const char* buffer, std::uint64_t count) {
      families.add(composed("vitrine_buffers_in_flight"), {{"buffer", buffer}}, count);
    };
    add("synth", buffers.synth_in_flight);
    add("provers", buffers.provers_in_flight);
    add("aux", buffers.aux_in_flight);
    add("shells", buffers.shells_in_flight);
    add("pending_handles", buffers.pending_handles);
  }
}

void add_devices(MetricFamilies& families, const Observation& observation, BoundedLabel& devices) {
  const auto label_of = [&](const shm::DeviceRecord& device) {
    return MetricLabel{"device", devices.value_of(std::to_string(device.identity.row))};
  };
  add_rows<shm::DeviceRecord>(families, observation, "vitrine_device_",
                              [&](const auto& device) { return RowLabels({label_of(device)}); });
  for (const auto& device : observation.snapshot->rows<shm::DeviceRecord>()) {
    const MetricLabel label = label_of(device);
    if (label.value != "other") {
      families.add(composed("vitrine_device_info"),
                   {label,
                    {"kind", std::string(shm::word(device.kind))},
                    {"name", std::string(device.name.view())}},
                   std::uint64_t{1});
    }
    families.add(composed("vitrine_device_up"), {label},
                 one_when(device.state == shm::DeviceState::kUp));
    for (const std::string_view word :
         std::span(shm::WordList<shm::DeviceState>::kWords).subspan(1)) {
      families.add(composed("vitrine_device_state"), {label, {"state", std::string(word)}},
                   one_when(word == shm::word(device.state)));
    }
  }
}

void add_workers(MetricFamilies& families, const Observation& observation, BoundedLabel& workers) {
  const auto label_of = [&](const shm::WorkerRecord& worker) {
    return MetricLabel{"worker", workers.value_of(std::to_string(worker.identity.row))};
  };
  add_rows<shm::WorkerRecord>(families, observation, "vitrine_worker_",
                              [&](const auto& worker) { return RowLabels({label_of(worker)}); });
  for (const auto& worker : observation.snapshot->rows<shm::WorkerRecord>()) {
    const MetricLabel label = label_of(worker);
    if (label.value != "other" && worker.device.is_set()) {
      families.add(composed("vitrine_worker_info"),
                   {label, {"device", std::to_string(worker.device.number())}}, std::uint64_t{1});
    }
    families.add(composed("vitrine_worker_busy"), {label},
                 one_when(worker.state == shm::WorkerState::kProving));
    const auto add_ended = [&](const char* result, std::uint64_t partitions) {
      families.add(composed("vitrine_worker_partitions_total"), {label, {"result", result}},
                   partitions);
    };
    add_ended("done", worker.partitions_done);
    add_ended("failed", worker.partitions_failed);
  }
}

void add_plane(MetricFamilies& families, const Observation& observation) {
  const Snapshot& snapshot = *observation.snapshot;
  families.add(composed("vitrine_plane_commits_total"), {}, snapshot.commit);
  families.add(composed("vitrine_plane_events_total"), {}, snapshot.last_event_sequence);
  shm::for_each_table([&]<class Record>() {
    constexpr std::string_view kName = shm::TableOf<Record>::kName;
    const MetricLabels labels{{"table", std::string(kName)}};
    families.add(composed("vitrine_plane_rows_used"), labels, snapshot.rows<Record>().size());
    for (const auto& table : observation.identity.tables) {
      if (table.name == kName) {
        families.add(composed("vitrine_plane_rows"), labels, std::uint64_t{table.rows});
      }
    }
  });
}

void add_counters(MetricFamilies& families, const Observation& observation, BoundedLabel& kinds) {
  add_rows<shm::CountersRecord>(
      families, observation, "vitrine_jobs_", [&](const shm::CountersRecord& row) {
        return RowLabels({{"proof_kind", kinds.value_of(row.proof_kind.view())}});
      });
  add_metrics_by_kind(families, *observation.snapshot, kinds);
}

}  // namespace

void add_engine_metrics(MetricFamilies& families, const Observation& observation) {
  families.add(composed("vitrine_up"), {}, one_when(!is_gone(observation)));
  if (is_gone(observation)) return;
  BoundedLabel kinds(kProofKindsShown), circuits(kCircuits), devices(kDevices), workers(kWorkers),
      limiters(kLimiters);
  add_identity(families, observation);
  add_start(families, observation.identity);
  add_life(families, observation);
  add_counters(families, observation, kinds);
  add_queues(families, observation);
  add_memory(families, observation);
  add_allocations(families, observation, circuits);
  add_limiters(families, observation, limiters);
  add_buffers(families, *observation.snapshot);
  add_workers(families, observation, workers);
  add_devices(families, observation, devices);
  add_plane(families, observation);
  const auto add_folded = [&](const char* label, const BoundedLabel& values) {
    families.add(composed("vitrine_exporter_labels_folded"), {{"label", label}},
                 std::uint64_t{values.folded()});
  };
  add_folded("proof_kind", kinds);
  add_folded("circuit", circuits);
  add_folded("device", devices);
  add_folded("worker", workers);
  add_folded("limiter", limiters);
}

}  // namespace vitrine::exporters
