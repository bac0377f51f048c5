// SPDX-License-Identifier: Apache-2.0
#include "tools/snapshot_difference.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstring>
#include <map>

#include "shm/catalogue.h"
#include "shm/snapshot_json.h"

namespace vitrine::tools {
namespace {

using shm::Field;
using shm::FieldType;
using Bytes = std::span<const std::byte>;

bool is_identity(const Field& field) { return field.offset_bytes < sizeof(shm::Identity); }

bool is_equal(const Field& field, Bytes a, Bytes b) {
  return std::memcmp(a.data() + field.offset_bytes, b.data() + field.offset_bytes,
                     field.size_bytes) == 0;
}

std::uint64_t number_of(const Field& field, Bytes record) {
  std::uint64_t number = 0;
  std::uint32_t half = 0;
  if (field.type == FieldType::kU64) {
    std::memcpy(&number, record.data() + field.offset_bytes, sizeof(number));
  } else {
    std::memcpy(&half, record.data() + field.offset_bytes, sizeof(half));
    number = half;
  }
  return number;
}

// The value of one field of a record that was made JSON.
std::string value_text(const Field& field, const boost::json::object& record) {
  std::string name(field.name);
  if (field.type == FieldType::kInstant) name = name == "time" ? "time" : name + "_time";
  const boost::json::value* value = record.if_contains(name);
  return value == nullptr ? "null" : boost::json::serialize(*value);
}

std::string label_of(std::span<const Field> fields, const boost::json::object& record) {
  std::string label;
  for (const Field& field : fields) {
    const bool is_name = field.semantics == shm::Semantics::kInfo && !is_identity(field) &&
                         (field.type == FieldType::kId || field.type == FieldType::kText ||
                          field.type == FieldType::kEnum || field.name == "partition");
    const boost::json::value* value = record.if_contains(field.name);
    if (!is_name || value == nullptr || value->is_null()) continue;
    const std::string text =
        value->is_string() ? std::string(value->as_string()) : boost::json::serialize(*value);
    label += (label.empty() ? "" : " ") + std::string(field.name) + " " + text;
    if (label.size() > 40) break;
  }
  return label;
}

class TableDifference {
 public:
  TableDifference(const DifferenceSide& before, const DifferenceSide& after,
                  SnapshotDifference& out)
      : before_(before), after_(after), out_(out) {}

  template <class Record>
  void run() {
    std::map<std::uint32_t, std::pair<const Record*, const Record*>> rows;
    for (const Record& row : before_.snapshot.rows<Record>()) rows[row.identity.row].first = &row;
    for (const Record& row : after_.snapshot.rows<Record>()) rows[row.identity.row].second = &row;
    for (const auto& [number, sides] : rows) {
      const auto [old, fresh] = sides;
      const bool is_same_item = out_.is_same_incarnation && old != nullptr && fresh != nullptr &&
                                old->identity.generation == fresh->identity.generation;
      if (is_same_item) {
        compare(*old, *fresh);
      } else {
        if (old != nullptr) add(*old, RowChange::Kind::kRemoved, before_.snapshot);
        if (fresh != nullptr) add(*fresh, RowChange::Kind::kAdded, after_.snapshot);
      }
    }
  }

 private:
  template <class Record>
  static RowChange change_of(const Record& record, RowChange::Kind kind,
                             const boost::json::object& json) {
    RowChange change;
    change.kind = kind;
    change.table = shm::TableOf<Record>::kName;
    change.row = record.identity.row;
    change.label = label_of(shm::TableOf<Record>::kFields, json);
    return change;
  }

  template <class Record>
  void add(const Record& record, RowChange::Kind kind, const shm::Snapshot& clock) {
    out_.rows.push_back(change_of(record, kind, shm::record_to_json(record, clock)));
  }

  template <class Record>
  void compare(const Record& old, const Record& fresh) {
    const Bytes old_bytes = std::as_bytes(std::span(&old, 1));
    const Bytes fresh_bytes = std::as_bytes(std::span(&fresh, 1));
    const boost::json::object old_json = shm::record_to_json(old, before_.snapshot);
    const boost::json::object fresh_json = shm::record_to_json(fresh, after_.snapshot);
    RowChange change = change_of(fresh, RowChange::Kind::kChanged, fresh_json);
    for (const Field& field : shm::TableOf<Record>::kFields) {
      const bool is_shown = !is_identity(field) && field.type != FieldType::kReserved;
      if (!is_shown || is_equal(field, old_bytes, fresh_bytes)) continue;
      FieldChange& one = change.fields.emplace_back();
      one.name = field.name;
      one.before = value_text(field, old_json);
      one.after = value_text(field, fresh_json);
      one.is_number = field.type == FieldType::kU32 || field.type == FieldType::kU64;
      one.is_counter = one.is_number && field.semantics == shm::Semantics::kCounter;
      if (one.is_number) {
        one.growth =
            static_cast<std::int64_t>(number_of(field, fresh_bytes) - number_of(field, old_bytes));
      }
    }
    if (!change.fields.empty()) out_.rows.push_back(std::move(change));
  }

  const DifferenceSide& before_;
  const DifferenceSide& after_;
  SnapshotDifference& out_;
};

std::uint64_t engine_ns_of(const shm::Snapshot& snapshot) {
  return snapshot.heartbeat_monotonic_ns + snapshot.heartbeat_age_ns;
}

}  // namespace

SnapshotDifference difference_of(const DifferenceSide& before, const DifferenceSide& after) {
  SnapshotDifference out;
  const shm::Snapshot& old = before.snapshot;
  const shm::Snapshot& fresh = after.snapshot;
  out.is_same_incarnation = old.incarnation == fresh.incarnation;
  // One engine's own clock is better than two readings of a wall clock. Sums modulo 2^64.
  const std::uint64_t passed_ns = out.is_same_incarnation
                                      ? engine_ns_of(fresh) - engine_ns_of(old)
                                      : static_cast<std::uint64_t>(fresh.taken_unix_ns()) -
                                            static_cast<std::uint64_t>(old.taken_unix_ns());
  out.seconds = static_cast<double>(static_cast<std::int64_t>(passed_ns)) / 1e9;
  if (out.is_same_incarnation && fresh.last_event_sequence >= old.last_event_sequence) {
    out.events = fresh.last_event_sequence - old.last_event_sequence;
  }
  TableDifference tables(before, after, out);
  shm::for_each_table([&]<class Record>() { tables.run<Record>(); });
  return out;
}

}  // namespace vitrine::tools
