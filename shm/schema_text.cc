// SPDX-License-Identifier: Apache-2.0
#include "shm/schema_text.h"

#include <bit>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "shm/layout.h"

namespace vitrine::shm {
namespace {

namespace json = boost::json;

// What the words of the product say about values of a type or a name, else the catalogue's word.
std::string_view semantics_word(const Field& field) {
  if (field.type == FieldType::kInstant) return "timestamp";
  if (field.type == FieldType::kHistogram) return "histogram";
  if (field.name.ends_with("_ns") && field.semantics != Semantics::kCounter) return "duration";
  return word(field.semantics);
}

std::string_view unit_of(const Field& field) {
  if (field.name.ends_with("_bytes")) return "bytes";
  const bool is_time = field.type == FieldType::kInstant || field.type == FieldType::kHistogram;
  return is_time || field.name.ends_with("_ns") ? "nanoseconds" : "";
}

json::object object_of(const Field& field, std::string_view stability) {
  json::object out;
  out["name"] = field.name;
  out["type"] = word(field.type);
  out["offset"] = field.offset_bytes;
  out["size"] = field.size_bytes;
  out["semantics"] = semantics_word(field);
  out["unit"] = unit_of(field);
  out["stability"] = stability;
  out["help"] = field.help;
  if (field.type == FieldType::kEnum) {
    out["words"] = json::array(field.words.begin(), field.words.end());
  }
  if (field.type == FieldType::kHistogram) {
    out["bounds_ns"] = json::array(Histogram::kBoundsNs.begin(), Histogram::kBoundsNs.end());
  }
  return out;
}

json::array fields_of(std::span<const Field> fields) {
  json::array out;
  for (const Field& field : fields) {
    if (field.type != FieldType::kReserved) out.push_back(object_of(field, "stable"));
  }
  return out;
}

json::object section_of(SectionId id, std::string_view name, SectionKind kind,
                        std::size_t record_bytes, json::array fields) {
  json::object out;
  out["id"] = static_cast<std::uint32_t>(id);
  out["name"] = name;
  out["kind"] = word(kind);
  out["shape"] = has_one_row(id) || kind == SectionKind::kBlock ? "object" : "list";
  out["record_bytes"] = record_bytes;
  out["fields"] = std::move(fields);
  return out;
}

// A word of the hot lines.
json::object hot_word(std::string_view name, std::size_t offset_bytes, FieldType type,
                      std::string_view help) {
  const std::uint32_t size_bytes = type == FieldType::kU32 || type == FieldType::kEnum ? 4 : 8;
  const Words words = type == FieldType::kEnum ? Words(WordList<EngineLife>::kWords) : Words();
  return object_of(Field{name, type, static_cast<std::uint32_t>(offset_bytes), size_bytes,
                         Semantics::kState, words, help},
                   "stable");
}

json::array hot_words() {
  json::array out;
  out.push_back(hot_word("commit", offsetof(HotLines, commit.commit), FieldType::kId,
                         "number of the last complete transaction"));
  out.push_back(hot_word("life", offsetof(HotLines, life.life), FieldType::kEnum,
                         "what the engine as a whole is doing"));
  out.push_back(hot_word("exit_code", offsetof(HotLines, life.life) + 4, FieldType::kU32,
                         "exit code, once life is closed"));
  out.push_back(hot_word("last_signal", offsetof(HotLines, life.last_signal), FieldType::kU64,
                         "last signal that the engine was sent; 0: none"));
  out.push_back(hot_word("heartbeat", offsetof(HotLines, heartbeat.count), FieldType::kU64,
                         "how often the engine has beaten"));
  out.push_back(hot_word("heartbeat_interval_ns", offsetof(HotLines, heartbeat.interval_ns),
                         FieldType::kU64, "how often it promises to beat"));
  out.push_back(hot_word("heartbeat_monotonic", offsetof(HotLines, heartbeat.monotonic_ns),
                         FieldType::kInstant, "time of the last beat"));
  out.push_back(hot_word(
      "unix_minus_monotonic_ns", offsetof(HotLines, time_anchor.unix_minus_monotonic_ns),
      FieldType::kU64, "adds to an instant, in two's complement, to give nanoseconds since 1970"));
  return out;
}

// Appends the extra fields of `table` and returns the record's size with them.
std::size_t add_extra_fields(SectionId table, std::span<const ExtraField> extra_fields,
                             std::size_t record_bytes, json::array& fields) {
  for (const ExtraField& extra : extra_fields) {
    if (extra.table != table) continue;
    const Field field{extra.name,       extra.type,      static_cast<std::uint32_t>(record_bytes),
                      extra.size_bytes, extra.semantics, {},
                      extra.help};
    fields.push_back(object_of(field, "custom"));
    record_bytes += extra.size_bytes;
  }
  return record_bytes;
}

}  // namespace

std::string schema_text(std::span<const ExtraField> extra_fields) {
  json::array sections;
  sections.push_back(
      section_of(SectionId::kHotLines, "hot", SectionKind::kBlock, sizeof(HotLines), hot_words()));
  for_each_table([&]<class Record>() {
    json::array fields = fields_of(TableOf<Record>::kFields);
    const std::size_t record_bytes =
        add_extra_fields(TableOf<Record>::kSection, extra_fields, sizeof(Record), fields);
    sections.push_back(section_of(TableOf<Record>::kSection, TableOf<Record>::kName,
                                  SectionKind::kTable, record_bytes, std::move(fields)));
  });
  sections.push_back(section_of(SectionId::kEvents, "events", SectionKind::kRing, sizeof(Event),
                                fields_of(kEventFields)));
  sections.push_back(section_of(SectionId::kHistory, "history", SectionKind::kRing,
                                sizeof(HistorySample), fields_of(kHistoryFields)));
  sections.push_back(section_of(SectionId::kLastWords, "last_words", SectionKind::kBlock,
                                sizeof(LastWords), fields_of(kLastWordsFields)));
  json::object out;
  out["schema"] = "vitrine.segment.1";
  out["version"] = std::to_string(kMajorVersion) + "." + std::to_string(kMinorVersion);
  out["byte_order"] = std::endian::native == std::endian::little ? "little" : "big";
  out["line_bytes"] = kLineBytes;
  out["slots"] = kSlots;
  out["sections"] = std::move(sections);
  return json::serialize(out);
}

std::uint64_t schema_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char byte : text) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace vitrine::shm
