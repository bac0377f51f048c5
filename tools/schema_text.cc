// SPDX-License-Identifier: Apache-2.0
#include "tools/schema_text.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <cstdio>
#include <vector>

#include "shm/catalogue.h"
#include "shm/layout.h"
#include "tools/text_table.h"

namespace vitrine::tools {
namespace {

namespace json = boost::json;

struct TableDescription {
  std::string_view name;
  shm::SectionId section;
  std::span<const shm::Field> fields;
};

// By section, as they lie in a segment; the event ring last.
std::vector<TableDescription> all_tables() {
  std::vector<TableDescription> tables;
  shm::for_each_table([&tables]<class Record>() {
    tables.push_back({shm::TableOf<Record>::kName, shm::TableOf<Record>::kSection,
                      shm::TableOf<Record>::kFields});
  });
  tables.push_back({"events", shm::SectionId::kEvents, shm::kEventFields});
  std::ranges::sort(tables, {}, &TableDescription::section);
  return tables;
}

std::uint32_t record_bytes(const TableDescription& table) {
  return table.fields.back().offset_bytes + table.fields.back().size_bytes;
}

std::string_view type_word(const shm::Field& field) {
  constexpr std::array<std::string_view, 8> kWords = {"u32",     "u64",   "enum", "id",
                                                      "instant", "index", "text", "reserved"};
  return kWords.at(static_cast<std::size_t>(field.type));
}

std::string_view semantics_word(const shm::Field& field) {
  constexpr std::array<std::string_view, 4> kWords = {"info", "state", "gauge", "counter"};
  return kWords.at(static_cast<std::size_t>(field.semantics));
}

// Units are the last part of a name.
std::string_view unit_word(const shm::Field& field) {
  if (field.type == shm::FieldType::kInstant) return "ns";
  for (const std::string_view unit : {"ns", "bytes", "seconds"}) {
    const bool is_last = field.name.size() > unit.size() && field.name.ends_with(unit) &&
                         field.name[field.name.size() - unit.size() - 1] == '_';
    if (is_last) return unit;
  }
  return "";
}

std::string hash_text() {
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "%016llx",
                static_cast<unsigned long long>(shm::layout_hash()));
  return text.data();
}

std::string version_text() {
  return std::to_string(shm::kMajorVersion) + "." + std::to_string(shm::kMinorVersion);
}

std::string table_text(const TableDescription& table, const TextStyle& style) {
  TextTable text({{"FIELD"},
                  {"TYPE"},
                  {"OFFSET", Align::kRight},
                  {"SIZE", Align::kRight},
                  {"MEANS"},
                  {"UNIT"},
                  {"HELP"}});
  for (const shm::Field& field : table.fields) {
    std::string help(field.help);
    for (std::size_t i = 0; i < field.words.size(); ++i) {
      help += (i == 0 ? ": " : ", ") + std::to_string(i) + " " + std::string(field.words[i]);
    }
    text.add_row({cell(field.name), cell(type_word(field)),
                  cell(std::to_string(field.offset_bytes)), cell(std::to_string(field.size_bytes)),
                  cell(semantics_word(field)), cell(unit_word(field)), cell(help)});
  }
  StyledText title(table.name, Tone::kStrong);
  title.add("  section " + std::to_string(static_cast<std::uint32_t>(table.section)) + ", " +
            std::to_string(record_bytes(table)) + " bytes a record");
  return title.painted(style) + "\n" + text.text(style, 2);
}

json::object field_json(const shm::Field& field) {
  json::object out;
  out["name"] = field.name;
  out["type"] = type_word(field);
  out["offset_bytes"] = field.offset_bytes;
  out["size_bytes"] = field.size_bytes;
  out["semantics"] = semantics_word(field);
  const std::string_view unit = unit_word(field);
  out["unit"] = unit.empty() ? json::value(nullptr) : json::value(unit);
  out["help"] = field.help;
  json::array words;
  for (const std::string_view word : field.words) words.push_back(json::value(word));
  out["words"] = std::move(words);
  return out;
}

}  // namespace

std::string schema_text(const TextStyle& style) {
  std::string out = "layout " + version_text() + ", hash " + hash_text() + "\n";
  for (const TableDescription& table : all_tables()) out += "\n" + table_text(table, style);
  return out;
}

json::object schema_json() {
  json::array tables;
  for (const TableDescription& table : all_tables()) {
    json::array fields;
    for (const shm::Field& field : table.fields) fields.push_back(field_json(field));
    json::object one;
    one["name"] = table.name;
    one["section"] = static_cast<std::uint32_t>(table.section);
    one["record_bytes"] = record_bytes(table);
    one["fields"] = std::move(fields);
    tables.push_back(std::move(one));
  }
  return {{"schema", "vitrine.schema.1"},
          {"layout_version", version_text()},
          {"layout_hash", hash_text()},
          {"tables", std::move(tables)}};
}

}  // namespace vitrine::tools
