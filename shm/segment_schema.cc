// SPDX-License-Identifier: Apache-2.0
#include "shm/segment_schema.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <optional>

#include "shm/catalogue.h"

namespace vitrine::shm {
namespace {

namespace json = boost::json;

constexpr std::size_t kFieldsMax = 256;  // of one table
constexpr std::size_t kWordsMax = 256;   // of one enumeration
constexpr std::size_t kNameBytesMax = 64;

std::optional<std::uint32_t> number_in(const json::object& from, std::string_view key) {
  const json::value* value = from.if_contains(key);
  if (value == nullptr) return std::nullopt;
  boost::system::error_code fault;
  const auto number = value->to_number<std::uint32_t>(fault);
  return fault ? std::nullopt : std::optional(number);
}

std::string_view text_in(const json::object& from, std::string_view key) {
  const json::value* value = from.if_contains(key);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string())
                                                : std::string_view();
}

// A name becomes a key of every output, so it has the form of the catalogue's own.
bool is_name(std::string_view text) {
  const auto is_allowed = [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_';
  };
  return !text.empty() && text.size() <= kNameBytesMax && text[0] >= 'a' && text[0] <= 'z' &&
         std::ranges::all_of(text, is_allowed);
}

template <Worded Enum>
std::optional<Enum> enumerator_of(std::string_view text) {
  const Words words(WordList<Enum>::kWords);
  const auto found = std::ranges::find(words, text);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

std::optional<std::uint32_t> size_of(FieldType type, std::uint32_t told_bytes) {
  switch (type) {
    case FieldType::kU32:
    case FieldType::kEnum:
    case FieldType::kIndex:
      return 4;
    case FieldType::kU64:
    case FieldType::kId:
    case FieldType::kInstant:
      return 8;
    case FieldType::kText:
      return told_bytes;
    case FieldType::kHistogram:
      return sizeof(Histogram);
    case FieldType::kReserved:
      break;
  }
  return std::nullopt;
}

// Of the engine that wrote the segment, not of the format.
bool is_custom(const Field& field) { return field.name.starts_with("x_"); }

// What the catalogue says of a table; no fields for a section that is not its table.
struct OwnTable {
  std::uint32_t record_bytes = 0;
  std::span<const Field> fields;
};

OwnTable own_table(SectionId id) {
  OwnTable found;
  for_each_table([&]<class Record>() {
    if (TableOf<Record>::kSection == id) found = {sizeof(Record), TableOf<Record>::kFields};
  });
  return found;
}

// The words that `told` has for the catalogue's `own`, when they go on where its own words end.
Words later_words(const Field& own, std::span<const Field> told) {
  for (const Field& field : told) {
    const bool is_same = field.name == own.name && field.offset_bytes == own.offset_bytes &&
                         field.type == FieldType::kEnum && own.type == FieldType::kEnum;
    if (!is_same || field.words.size() < own.words.size()) continue;
    if (std::ranges::equal(own.words, field.words.first(own.words.size()))) return field.words;
  }
  return own.words;
}

}  // namespace

bool SegmentSchema::has_news(const SegmentLayout& layout) {
  if (layout.header.fixed.minor != kMinorVersion) return true;
  for (std::size_t number = 0; number < kSectionCapacity; ++number) {
    const auto id = static_cast<SectionId>(number);
    const SectionPlace& place = layout.place(id);
    const bool is_used = place.kind == SectionKind::kTable && place.count > 0;
    if (is_used && place.record_bytes > own_table(id).record_bytes) return true;
  }
  return false;
}

std::shared_ptr<const SegmentSchema> SegmentSchema::parse(std::string_view text,
                                                          const SegmentLayout& layout) {
  auto schema = std::make_shared<SegmentSchema>();
  boost::system::error_code fault;
  schema->document_ = json::parse(text, fault);
  if (fault || !schema->document_.is_object()) return nullptr;
  const json::value* sections = schema->document_.get_object().if_contains("sections");
  if (sections == nullptr || !sections->is_array()) return nullptr;
  for (const json::value& section : sections->get_array()) {
    if (section.is_object()) schema->add_section(section.get_object(), layout);
  }
  return schema;
}

const SegmentSchema::Table* SegmentSchema::find(SectionId table) const {
  const auto found = std::ranges::find(tables_, table, &Table::id);
  return found == tables_.end() ? nullptr : &*found;
}

const std::vector<Field>& SegmentSchema::unknown_fields(SectionId table) const {
  static const std::vector<Field> kNone;
  const Table* const found = find(table);
  return found == nullptr ? kNone : found->fields;
}

std::uint32_t SegmentSchema::own_bytes(SectionId table) const {
  const Table* const found = find(table);
  return found == nullptr ? own_table(table).record_bytes : found->own_bytes;
}

std::span<const Field> SegmentSchema::own_fields(SectionId table) const {
  const Table* const found = find(table);
  return found == nullptr ? own_table(table).fields : std::span<const Field>(found->own);
}

void SegmentSchema::add_section(const json::object& section, const SegmentLayout& layout) {
  const auto number = number_in(section, "id");
  if (!number || *number >= kSectionCapacity) return;
  const auto id = static_cast<SectionId>(*number);
  const SectionPlace& place = layout.place(id);
  if (place.kind != SectionKind::kTable || place.count == 0) return;
  const auto is_told = [id](const auto& tables) {
    return std::ranges::find(tables, id, &Table::id) != tables.end();
  };
  if (is_told(tables_) || is_told(unknown_tables_)) return;
  const OwnTable own = own_table(id);
  Table table{
      id, text_in(section, "name"), fields_of(section, place.record_bytes), {}, own.record_bytes};
  if (own.fields.empty()) {
    if (is_name(table.name)) unknown_tables_.push_back(std::move(table));
    return;
  }
  for (Field field : own.fields) {
    field.words = later_words(field, table.fields);
    table.own.push_back(field);
  }
  const bool is_older = layout.header.fixed.minor < kMinorVersion;
  for (const Field& field : table.fields) {
    if (is_older && is_custom(field))
      table.own_bytes = std::min(table.own_bytes, field.offset_bytes / 8 * 8);
  }
  std::erase_if(table.fields,
                [&](const Field& field) { return field.offset_bytes < table.own_bytes; });
  tables_.push_back(std::move(table));
}

std::vector<Field> SegmentSchema::fields_of(const json::object& section,
                                            std::uint32_t record_bytes) {
  std::vector<Field> fields;
  const json::value* listed = section.if_contains("fields");
  if (listed == nullptr || !listed->is_array()) return fields;
  for (const json::value& entry : listed->get_array()) {
    if (!entry.is_object() || fields.size() == kFieldsMax) continue;
    const json::object& told = entry.get_object();
    const auto type = enumerator_of<FieldType>(text_in(told, "type"));
    const auto offset = number_in(told, "offset");
    if (!type || !offset || !is_name(text_in(told, "name"))) continue;
    const auto size = size_of(*type, number_in(told, "size").value_or(0));
    const bool fits = size && *size > 0 && *offset % 4 == 0 && *offset <= record_bytes &&
                      *size <= record_bytes - *offset;
    if (!fits) continue;
    Field field{text_in(told, "name"), *type, *offset, *size, Semantics::kInfo, {},
                text_in(told, "help")};
    field.semantics =
        enumerator_of<Semantics>(text_in(told, "semantics")).value_or(Semantics::kInfo);
    if (const json::value* words = told.if_contains("words"); words && words->is_array()) {
      auto& list = words_.emplace_back();
      for (const json::value& word : words->get_array()) {
        if (list.size() == kWordsMax) break;
        list.push_back(word.is_string() ? std::string_view(word.get_string()) : "unknown");
      }
      field.words = list;
    }
    fields.push_back(field);
  }
  return fields;
}

}  // namespace vitrine::shm
