// SPDX-License-Identifier: Apache-2.0
// The values of a snapshot for shm/vitrine.h, found through the catalogue and the segment's schema.
#include "shm/c_api_snapshot.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstring>

#include "shm/c_api_texts.h"
#include "shm/catalogue.h"
#include "shm/snapshot_json.h"

namespace vitrine::shm {
namespace {

const Field* field_named(std::span<const Field> fields, std::string_view name) {
  for (const Field& field : fields) {
    if (field.name == name && field.type != FieldType::kReserved) return &field;
  }
  return nullptr;
}

// Looks in a table of the catalogue: its own members, then what the segment's schema adds.
template <class Record>
int find_in(const Observation& observation, std::uint32_t row, std::string_view name, Cell& out) {
  const Snapshot& snapshot = *observation.snapshot;
  const auto& rows = snapshot.rows<Record>();
  if (row >= rows.size()) return VITRINE_NO_SUCH_ITEM;
  if (const Field* field = field_named(TableOf<Record>::kFields, name)) {
    out = {*field, std::as_bytes(std::span(&rows[row], 1))};
    return VITRINE_OK;
  }
  if (observation.identity.schema == nullptr) return VITRINE_NO_SUCH_ITEM;
  const SegmentSchema& schema = *observation.identity.schema;
  constexpr SectionId kSection = TableOf<Record>::kSection;
  const Field* field = field_named(schema.unknown_fields(kSection), name);
  if (field == nullptr) return VITRINE_NO_SUCH_ITEM;
  out = {*field, snapshot.extra_of<Record>(row)};
  out.field.offset_bytes -= schema.own_bytes(kSection);
  const bool is_there =
      std::size_t{out.field.offset_bytes} + out.field.size_bytes <= out.record.size();
  return is_there ? VITRINE_OK : VITRINE_NO_SUCH_ITEM;
}

// The table that only the segment's schema has; null when it has none of this name.
const SegmentSchema::Table* unknown_table(const Observation& observation, std::string_view name) {
  if (observation.identity.schema == nullptr) return nullptr;
  const auto& tables = observation.identity.schema->unknown_tables();
  const auto found = std::ranges::find(tables, name, &SegmentSchema::Table::name);
  return found == tables.end() ? nullptr : &*found;
}

const RawRows* unknown_rows(const Observation& observation, const SegmentSchema::Table& table) {
  const auto& all = observation.snapshot->unknown_tables;
  const auto found = std::ranges::find(all, table.id, &RawRows::section);
  return found == all.end() ? nullptr : &*found;
}

template <class Number>
Number number_in(const Cell& cell) {
  Number number;
  std::memcpy(&number, cell.record.data() + cell.field.offset_bytes, sizeof(number));
  return number;
}

int read_number(const Cell& cell, std::uint64_t& out) {
  switch (cell.field.type) {
    case FieldType::kU32:
    case FieldType::kEnum:
      out = number_in<std::uint32_t>(cell);
      return VITRINE_OK;
    case FieldType::kU64:
    case FieldType::kId:
      out = number_in<std::uint64_t>(cell);
      return VITRINE_OK;
    case FieldType::kInstant:
      out = number_in<std::uint64_t>(cell);
      return out == 0 ? VITRINE_ABSENT : VITRINE_OK;
    case FieldType::kIndex: {
      const auto index = number_in<Index>(cell);
      if (!index.is_set()) return VITRINE_ABSENT;
      out = index.number();
      return VITRINE_OK;
    }
    default:
      return VITRINE_BAD_ARGUMENT;
  }
}

std::int64_t read_text(const Cell& cell, char* out, std::size_t size) {
  if (cell.field.type == FieldType::kText) {
    const auto* bytes = reinterpret_cast<const char*>(cell.record.data()) + cell.field.offset_bytes;
    const std::string_view text(bytes, strnlen(bytes, cell.field.size_bytes));
    return static_cast<std::int64_t>(copy_out(text, out, size));
  }
  std::uint64_t number = 0;
  if (const int code = read_number(cell, number); code != VITRINE_OK) return code;
  const std::string text =
      cell.field.type == FieldType::kEnum
          ? std::string(word_of(static_cast<std::uint32_t>(number), cell.field.words))
          : std::to_string(number);
  return static_cast<std::int64_t>(copy_out(text, out, size));
}

// Finds the field and gives it to read(), unless there is none.
template <class Code, class Read>
Code with_cell(const vitrine_snapshot* snapshot, const vitrine_place* place, Read read) noexcept {
  if (snapshot == nullptr || place == nullptr) return VITRINE_BAD_ARGUMENT;
  return without_exceptions([&]() -> Code {
    Cell cell{};
    const int code = find_cell(snapshot->observation, *place, cell);
    return code == VITRINE_OK ? read(cell) : code;
  });
}

int read_instant(const Cell& cell, Instant& out) {
  if (cell.field.type != FieldType::kInstant) return VITRINE_BAD_ARGUMENT;
  out = number_in<Instant>(cell);
  return out.is_set() ? VITRINE_OK : VITRINE_ABSENT;
}

const std::vector<vitrine_snapshot::Table>& tables_of(const vitrine_snapshot& snapshot) {
  std::call_once(snapshot.tables_made,
                 [&] { snapshot.tables = list_tables(snapshot.observation); });
  return snapshot.tables;
}

}  // namespace

std::int64_t count_rows(const Observation& observation, std::string_view table) {
  if (!observation.snapshot) return VITRINE_ABSENT;
  std::int64_t count = VITRINE_NO_SUCH_ITEM;
  for_each_table([&]<class Record>() {
    if (TableOf<Record>::kName != table) return;
    count = static_cast<std::int64_t>(observation.snapshot->rows<Record>().size());
  });
  if (count >= 0) return count;
  const SegmentSchema::Table* unknown = unknown_table(observation, table);
  if (unknown == nullptr) return VITRINE_NO_SUCH_ITEM;
  const RawRows* rows = unknown_rows(observation, *unknown);
  return rows == nullptr ? 0 : static_cast<std::int64_t>(rows->count());
}

int find_cell(const Observation& observation, const vitrine_place& place, Cell& out) {
  const std::string_view table = given_text(place.table);
  const std::string_view field = given_text(place.field);
  const std::uint32_t row = place.row;
  if (!observation.snapshot) return VITRINE_ABSENT;
  bool is_known = false;
  int code = VITRINE_NO_SUCH_ITEM;
  for_each_table([&]<class Record>() {
    if (TableOf<Record>::kName != table) return;
    is_known = true;
    code = find_in<Record>(observation, row, field, out);
  });
  if (is_known) return code;
  const SegmentSchema::Table* unknown = unknown_table(observation, table);
  if (unknown == nullptr) return VITRINE_NO_SUCH_ITEM;
  const Field* found = field_named(unknown->fields, field);
  const RawRows* rows = unknown_rows(observation, *unknown);
  if (found == nullptr || rows == nullptr || row >= rows->count()) return VITRINE_NO_SUCH_ITEM;
  out = {*found, rows->row(row)};
  const bool is_there = std::size_t{found->offset_bytes} + found->size_bytes <= out.record.size();
  return is_there ? VITRINE_OK : VITRINE_NO_SUCH_ITEM;
}

std::vector<vitrine_snapshot::Table> list_tables(const Observation& observation) {
  std::vector<vitrine_snapshot::Table> tables;
  if (!observation.snapshot) return tables;
  const auto add_fields = [&tables](std::span<const Field> fields) {
    for (const Field& field : fields) {
      if (field.type != FieldType::kReserved) tables.back().fields.emplace_back(field.name);
    }
  };
  const SegmentSchema* schema = observation.identity.schema.get();
  for_each_table([&]<class Record>() {
    tables.push_back({std::string(TableOf<Record>::kName), {}});
    add_fields(TableOf<Record>::kFields);
    if (schema != nullptr) add_fields(schema->unknown_fields(TableOf<Record>::kSection));
  });
  if (schema == nullptr) return tables;
  for (const SegmentSchema::Table& unknown : schema->unknown_tables()) {
    tables.push_back({std::string(unknown.name), {}});
    add_fields(unknown.fields);
  }
  return tables;
}

}  // namespace vitrine::shm

using namespace vitrine::shm;

extern "C" {

const char* vitrine_table_name(const vitrine_snapshot* snapshot, uint32_t place) {
  if (snapshot == nullptr) return nullptr;
  try {
    const auto& tables = tables_of(*snapshot);
    return place < tables.size() ? tables[place].name.c_str() : nullptr;
  } catch (...) {
    return nullptr;
  }
}

const char* vitrine_field_name(const vitrine_snapshot* snapshot, const char* table,
                               uint32_t place) {
  if (snapshot == nullptr) return nullptr;
  try {
    const auto& tables = tables_of(*snapshot);
    const auto found = std::ranges::find(tables, given_text(table), &vitrine_snapshot::Table::name);
    if (found == tables.end() || place >= found->fields.size()) return nullptr;
    return found->fields[place].c_str();
  } catch (...) {
    return nullptr;
  }
}

int64_t vitrine_rows(const vitrine_snapshot* snapshot, const char* table) {
  if (snapshot == nullptr) return VITRINE_BAD_ARGUMENT;
  return count_rows(snapshot->observation, given_text(table));
}

int vitrine_get_u64(const vitrine_snapshot* snapshot, const vitrine_place* place, uint64_t* value) {
  if (value == nullptr) return VITRINE_BAD_ARGUMENT;
  return with_cell<int>(snapshot, place,
                        [&](const Cell& cell) { return read_number(cell, *value); });
}

int64_t vitrine_get_text(const vitrine_snapshot* snapshot, const vitrine_place* place, char* out,
                         size_t size) {
  copy_out("", out, size);
  return with_cell<int64_t>(snapshot, place,
                            [&](const Cell& cell) { return read_text(cell, out, size); });
}

int vitrine_get_time(const vitrine_snapshot* snapshot, const vitrine_place* place,
                     int64_t* unix_ns) {
  if (unix_ns == nullptr) return VITRINE_BAD_ARGUMENT;
  return with_cell<int>(snapshot, place, [&](const Cell& cell) {
    Instant instant;
    const int code = read_instant(cell, instant);
    if (code == VITRINE_OK) *unix_ns = snapshot->observation.snapshot->unix_ns_of(instant);
    return code;
  });
}

int vitrine_get_age(const vitrine_snapshot* snapshot, const vitrine_place* place, int64_t* age_ns) {
  if (age_ns == nullptr) return VITRINE_BAD_ARGUMENT;
  return with_cell<int>(snapshot, place, [&](const Cell& cell) {
    Instant instant;
    const int code = read_instant(cell, instant);
    if (code == VITRINE_OK) *age_ns = snapshot->observation.snapshot->age_ns(instant);
    return code;
  });
}

int64_t vitrine_json(const vitrine_snapshot* snapshot, char* out, size_t size) {
  copy_out("", out, size);
  if (snapshot == nullptr) return VITRINE_BAD_ARGUMENT;
  return without_exceptions([&]() -> int64_t {
    std::call_once(snapshot->json_made, [&] {
      snapshot->json = boost::json::serialize(to_json(snapshot->observation));
    });
    return static_cast<int64_t>(copy_out(snapshot->json, out, size));
  });
}

}  // extern "C"
