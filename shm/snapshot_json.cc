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

// The last bucket has no bound: null.
json::value buckets(const Histogram& histogram) {
  json::array out;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    json::object bucket;
    bucket["le_seconds"] = i < Histogram::kBoundsNs.size()
                               ? seconds(static_cast<std::int64_t>(Histogram::kBoundsNs[i]))
                               : json::value(nullptr);
    bucket["count"] = histogram.counts[i];
    out.push_back(std::move(bucket));
  }
  return out;
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
    case FieldType::kHistogram:
      return buckets(number_at<Histogram>(field, record));
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

// Adds what lies behind the record's own members, as the segment's schema names it.
void add_extra(json::object& out, std::span<const std::byte> ends, std::size_t own_bytes,
               const std::vector<Field>& unknown_fields, const Snapshot& clock) {
  std::vector<Field> fields;
  for (Field field : unknown_fields) {
    field.offset_bytes -= static_cast<std::uint32_t>(own_bytes);
    if (field.offset_bytes + std::size_t{field.size_bytes} <= ends.size()) fields.push_back(field);
  }
  for (auto& member : fields_to_json(fields, ends, clock)) {
    out.emplace(member.key(), std::move(member.value()));  // names of the catalogue stay
  }
}

json::object engine_object(const Observation& observation, const Snapshot& snapshot) {
  json::object engine;
  engine["verdict"] = json::string(word(observation.verdict.word));
  engine["reason"] = text_or_null(observation.verdict.reason);
  add_life(engine, observation);
  add_identity(engine, observation);
  const LastWords& words = snapshot.last_words;
  engine["last_words"] =
      words.written == 0
          ? json::value(nullptr)
          : json::value(fields_to_json(std::span(kLastWordsFields).subspan(1),
                                       std::as_bytes(std::span(&words, 1)), snapshot));
  for (auto& member :
       row_to_json<EngineRecord>(snapshot, 0, observation.identity.schema.get(), snapshot)) {
    engine.insert_or_assign(member.key(), std::move(member.value()));
  }
  return engine;
}

template <class Record>
json::value table_value(const Observation& observation, const Snapshot& snapshot) {
  const SegmentSchema* const schema = observation.identity.schema.get();
  if constexpr (has_one_row(TableOf<Record>::kSection)) {
    return row_to_json<Record>(snapshot, 0, schema, snapshot);
  } else {
    json::array rows;
    rows.reserve(snapshot.rows<Record>().size());
    for (std::size_t i = 0; i < snapshot.rows<Record>().size(); ++i) {
      rows.push_back(row_to_json<Record>(snapshot, i, schema, snapshot));
    }
    return rows;
  }
}

bool is_wanted(std::string_view table, std::span<const std::string> sections) {
  return sections.empty() || std::ranges::find(sections, table) != sections.end();
}

// Tables that only the segment's schema knows, under the names that it gives them.
void add_unknown_tables(json::object& out, const Observation& observation, const Snapshot& snapshot,
                        std::span<const std::string> sections) {
  if (observation.identity.schema == nullptr) return;
  for (const SegmentSchema::Table& table : observation.identity.schema->unknown_tables()) {
    const auto found = std::ranges::find(snapshot.unknown_tables, table.id, &RawRows::section);
    if (found == snapshot.unknown_tables.end() || !is_wanted(table.name, sections)) continue;
    json::array rows;
    for (std::size_t i = 0; i < found->count(); ++i) {
      rows.push_back(fields_to_json(table.fields, found->row(i), snapshot));
    }
    out.emplace(table.name, std::move(rows));
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

template <class Record>
json::object row_to_json(const Snapshot& snapshot, std::size_t index, const SegmentSchema* schema,
                         const Snapshot& clock) {
  constexpr SectionId kSection = TableOf<Record>::kSection;
  const auto& rows = snapshot.rows<Record>();
  const bool is_there = index < rows.size();
  const auto own = schema == nullptr ? TableOf<Record>::kFields : schema->own_fields(kSection);
  const auto row = std::as_bytes(std::span(rows)).subspan(is_there ? index * sizeof(Record) : 0);
  json::object out = fields_to_json(own, row.first(is_there ? sizeof(Record) : 0), clock);
  if (schema == nullptr) return out;
  const std::vector<Field>& unknown = schema->unknown_fields(kSection);
  if (is_there) {
    add_extra(out, snapshot.extra_of<Record>(index), schema->own_bytes(kSection), unknown, clock);
  } else {
    for (auto& member : fields_to_json(unknown, {}, clock)) out.emplace(member.key(), nullptr);
  }
  return out;
}

// For whoever shows single rows.
#define VITRINE_ROW(Record)                                                        \
  template json::object row_to_json<Record>(const Snapshot& snapshot, std::size_t, \
                                            const SegmentSchema*, const Snapshot&)
VITRINE_ROW(EngineRecord);
VITRINE_ROW(DeviceRecord);
VITRINE_ROW(MemoryRecord);
VITRINE_ROW(JobRecord);
VITRINE_ROW(PartitionRecord);
VITRINE_ROW(CountersRecord);
VITRINE_ROW(BuffersRecord);
#undef VITRINE_ROW

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
    if (TableOf<Record>::kSection == SectionId::kEngine || !is_wanted(kName, sections)) return;
    out[kName] = table_value<Record>(observation, snapshot);
  });
  add_unknown_tables(out, observation, snapshot, sections);
  return out;
}

}  // namespace vitrine::shm
