// SPDX-License-Identifier: Apache-2.0
#include "shm/snapshot_json.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <cstring>

#include "shm/clock.h"
#include "shm/time_text.h"
#include "shm/utf8_repair.h"

namespace vitrine::shm {
namespace {

namespace json = boost::json;

constexpr std::string_view kSchema = "vitrine.snapshot.1";

json::value seconds(std::int64_t duration_ns) {
  return static_cast<double>(duration_ns / 1000) / 1e6;  // to the microsecond
}

json::value text_or_null(std::string_view text) {
  if (text.empty()) return nullptr;
  return json::string(repair_utf8(text));
}

template <class Number>
Number number_at(const Field& field, std::span<const std::byte> record) {
  Number number;
  std::memcpy(&number, record.data() + field.offset_bytes, sizeof(number));
  return number;
}

// The two members that an instant becomes; null for both when `instant` is not set.
void add_instant(json::object& out, std::string_view name, Instant instant, const Snapshot& clock) {
  const std::string prefix = name == "time" ? "" : std::string(name) + "_";
  out[prefix + "time"] =
      instant.is_set() ? text_or_null(rfc3339_ms(clock.unix_ns_of(instant))) : nullptr;
  out[prefix + "age_seconds"] = instant.is_set() ? seconds(clock.age_ns(instant)) : nullptr;
}

json::value value_of(const Field& field, std::span<const std::byte> record) {
  switch (field.type) {
    case FieldType::kU32:
      return number_at<std::uint32_t>(field, record);
    case FieldType::kU64:
      return number_at<std::uint64_t>(field, record);
    case FieldType::kEnum:
      return json::string(word_of(number_at<std::uint32_t>(field, record), field.words));
    case FieldType::kId: {
      const auto id = number_at<std::uint64_t>(field, record);
      return id == 0 ? json::value(nullptr) : json::value(std::to_string(id));
    }
    case FieldType::kIndex: {
      const auto index = number_at<Index>(field, record);
      return index.is_set() ? json::value(index.number()) : json::value(nullptr);
    }
    case FieldType::kText: {
      const auto* bytes = reinterpret_cast<const char*>(record.data() + field.offset_bytes);
      return text_or_null({bytes, strnlen(bytes, field.size_bytes)});
    }
    case FieldType::kInstant:
    case FieldType::kReserved:
      break;
  }
  return nullptr;
}

json::value text_or_null_when(bool is_known, std::string_view text) {
  return is_known ? text_or_null(text) : nullptr;
}

void add_identity(json::object& out, const Observation& observation) {
  const SegmentIdentity& identity = observation.identity;
  const bool is_known = observation.snapshot.has_value();
  out["instance"] = text_or_null(identity.instance);
  out["host"] = text_or_null(identity.host);
  out["engine_version"] = text_or_null(identity.engine_version);
  out["api_socket_path"] = text_or_null(identity.api_socket_path);
  out["segment_path"] = text_or_null(identity.path.string());
  out["layout_version"] = text_or_null_when(
      is_known, std::to_string(identity.major) + "." + std::to_string(identity.minor));
  out["pid"] = is_known ? json::value(identity.pid) : nullptr;
  out["uid"] = is_known ? json::value(identity.uid) : nullptr;
  out["created_time"] =
      text_or_null_when(is_known, rfc3339_ms(static_cast<std::int64_t>(identity.created_unix_ns)));
}

void add_life(json::object& out, const Observation& observation) {
  const bool is_known = observation.snapshot.has_value();
  const Snapshot snapshot_of_nothing;
  const Snapshot& snapshot = is_known ? *observation.snapshot : snapshot_of_nothing;
  const bool has_ended = snapshot.life == EngineLife::kClosed;
  // Time has passed since a snapshot that could not be renewed.
  const std::uint64_t beat_age_ns =
      snapshot.heartbeat_age_ns + observation.observed_monotonic_ns - snapshot.taken_monotonic_ns;
  out["heartbeat_age_seconds"] =
      is_known ? seconds(static_cast<std::int64_t>(beat_age_ns)) : nullptr;
  out["heartbeat"] = is_known ? json::value(snapshot.heartbeat) : nullptr;
  out["heartbeat_interval_ns"] = is_known ? json::value(snapshot.heartbeat_interval_ns) : nullptr;
  out["life"] = text_or_null_when(is_known, word(snapshot.life));
  out["exit_code"] = has_ended ? json::value(snapshot.exit_code) : nullptr;
  out["last_signal"] = snapshot.last_signal != 0 ? json::value(snapshot.last_signal) : nullptr;
  out["lock_held"] = is_known ? json::value(observation.liveness.lock_held) : nullptr;
  out["name_linked"] = is_known ? json::value(observation.liveness.name_linked) : nullptr;
}

template <class Record>
json::object single_row(const Snapshot& snapshot) {
  const auto& rows = snapshot.rows<Record>();
  return fields_to_json(TableOf<Record>::kFields,
                        std::as_bytes(std::span(rows).first(rows.empty() ? 0 : 1)), snapshot);
}

json::object engine_object(const Observation& observation, const Snapshot& snapshot) {
  json::object engine;
  engine["verdict"] = json::string(word(observation.verdict.word));
  engine["reason"] = text_or_null(observation.verdict.reason);
  add_life(engine, observation);
  add_identity(engine, observation);
  for (auto& member : single_row<EngineRecord>(snapshot)) {
    engine.insert_or_assign(member.key(), std::move(member.value()));
  }
  return engine;
}

template <class Record>
json::value table_value(const Snapshot& snapshot) {
  constexpr SectionId kSection = TableOf<Record>::kSection;
  if constexpr (kSection == SectionId::kMemory || kSection == SectionId::kBuffers) {
    return single_row<Record>(snapshot);
  } else {
    json::array rows;
    rows.reserve(snapshot.rows<Record>().size());
    for (const Record& row : snapshot.rows<Record>()) {
      rows.push_back(record_to_json(row, snapshot));
    }
    return rows;
  }
}

}  // namespace

json::object fields_to_json(std::span<const Field> fields, std::span<const std::byte> record,
                            const Snapshot& clock) {
  json::object out;
  out.reserve(2 * fields.size());
  for (const Field& field : fields) {
    if (field.type == FieldType::kReserved) continue;
    if (field.type == FieldType::kInstant) {
      add_instant(out, field.name, record.empty() ? Instant{} : number_at<Instant>(field, record),
                  clock);
    } else {
      out[field.name] = record.empty() ? json::value(nullptr) : value_of(field, record);
    }
  }
  return out;
}

json::object event_to_json(const Event& event, const Snapshot& clock) {
  json::object out = fields_to_json(kEventFields, std::as_bytes(std::span(&event, 1)), clock);
  out["sequence"] = std::to_string(event.sequence);
  out["stamp"] = std::to_string(event.stamp);
  return out;
}

json::object to_json(const Observation& observation, std::span<const std::string> sections) {
  const bool is_known = observation.snapshot.has_value();
  const Snapshot snapshot_of_nothing;
  const Snapshot& snapshot = is_known ? *observation.snapshot : snapshot_of_nothing;
  json::object out;
  out["schema"] = json::string(kSchema);
  out["incarnation"] = text_or_null(snapshot.incarnation);
  out["seq"] = text_or_null_when(is_known, std::to_string(snapshot.commit));
  out["consistent"] = is_known ? json::value(snapshot.consistent) : nullptr;
  out["time"] = text_or_null(rfc3339_ms(is_known ? snapshot.taken_unix_ns() : unix_ns()));
  out["snapshot_age_seconds"] =
      is_known ? seconds(static_cast<std::int64_t>(observation.snapshot_age_ns())) : nullptr;
  out["last_event_sequence"] =
      text_or_null_when(is_known, std::to_string(snapshot.last_event_sequence));
  out["engine"] = engine_object(observation, snapshot);
  for_each_table([&]<class Record>() {
    constexpr std::string_view kName = TableOf<Record>::kName;
    const bool is_wanted = sections.empty() || std::ranges::find(sections, kName) != sections.end();
    if (TableOf<Record>::kSection == SectionId::kEngine || !is_wanted) return;
    out[kName] = table_value<Record>(snapshot);
  });
  return out;
}

}  // namespace vitrine::shm
