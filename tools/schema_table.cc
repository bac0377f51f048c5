// SPDX-License-Identifier: Apache-2.0
#include "tools/schema_table.h"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "tools/text_table.h"

namespace vitrine::tools {
namespace {

namespace json = boost::json;

std::string text_of(const json::value& owner, std::string_view key) {
  const json::value& value = owner.at(key);
  return value.is_string() ? std::string(value.as_string()) : json::serialize(value);
}

std::string help_of(const json::value& field) {
  std::string help = text_of(field, "help");
  const json::value* words = field.as_object().if_contains("words");
  if (words == nullptr) return help;
  for (std::size_t i = 0; i < words->as_array().size(); ++i) {
    help += (i == 0 ? ": " : ", ") + std::to_string(i) + " ";
    help += std::string(words->as_array()[i].as_string());
  }
  return help;
}

std::string section_text(const json::value& section, const TextStyle& style) {
  TextTable table({{"FIELD"},
                   {"TYPE"},
                   {"OFFSET", Align::kRight},
                   {"SIZE", Align::kRight},
                   {"MEANS"},
                   {"UNIT"},
                   {"HELP"}});
  for (const json::value& field : section.at("fields").as_array()) {
    std::vector<Cell> row;
    for (const char* key : {"name", "type", "offset", "size", "semantics", "unit"}) {
      row.push_back(cell(text_of(field, key)));
    }
    row.push_back(cell(help_of(field)));
    table.add_row(std::move(row));
  }
  StyledText title(text_of(section, "name"), Tone::kStrong);
  title.add("  " + text_of(section, "kind") + ", section " + text_of(section, "id") + ", " +
            text_of(section, "record_bytes") + " bytes a record");
  return title.painted(style) + "\n" + table.text(style, 2);
}

}  // namespace

std::string schema_table(const json::value& document, const TextStyle& style) {
  std::string out = "segment version " + text_of(document, "version") + ", " +
                    text_of(document, "byte_order") + "-endian\n";
  for (const json::value& section : document.at("sections").as_array()) {
    out += "\n" + section_text(section, style);
  }
  return out;
}

}  // namespace vitrine::tools
