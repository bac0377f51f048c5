// SPDX-License-Identifier: Apache-2.0
#include "exporters/json_text.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "shm/utf8_repair.h"

namespace vitrine::exporters {

namespace {

using boost::json::kind;
using boost::json::value;

void append_escape(std::string& out, unsigned code) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(code >> shift) & 0xF];
}

// U+2028 and U+2029 end a line in scripts; both are E2 80 A8 or E2 80 A9.
bool is_line_separator(std::string_view text, std::size_t at) {
  return text.compare(at, 2, "\xE2\x80") == 0 && at + 2 < text.size() &&
         (text[at + 2] == '\xA8' || text[at + 2] == '\xA9');
}

// As names and words are: to be written as they stand.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) {
    return byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\' && byte != '<';
  });
}

void append_string(std::string& out, std::string_view raw) {
  out += '"';
  if (is_plain(raw)) {
    out += raw;
    out += '"';
    return;
  }
  const std::string text = shm::repair_utf8(raw);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned char byte = static_cast<unsigned char>(text[i]);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[i];
    } else if (byte < 0x20 || byte == 0x7F || byte == '<') {
      append_escape(out, byte);
    } else if (byte == 0xE2 && is_line_separator(text, i)) {
      append_escape(out, text[i + 2] == '\xA8' ? 0x2028 : 0x2029);
      i += 2;
    } else {
      out += text[i];
    }
  }
  out += '"';
}

template <class Integer>
void append_integer(std::string& out, Integer number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

void append_float(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  const std::string_view text(digits, static_cast<std::size_t>(end - digits));
  out += text;
  if (text.find_first_of(".e") == text.npos) out += ".0";
}

void append_value(std::string& out, const value& item);

void append_object(std::string& out, const boost::json::object& object) {
  out += '{';
  for (const auto& member : object) {
    if (out.back() != '{') out += ',';
    append_string(out, member.key());
    out += ':';
    append_value(out, member.value());
  }
  out += '}';
}

void append_array(std::string& out, const boost::json::array& array) {
  out += '[';
  for (const value& item : array) {
    if (out.back() != '[') out += ',';
    append_value(out, item);
  }
  out += ']';
}

void append_value(std::string& out, const value& item) {
  switch (item.kind()) {
    case kind::null:
      out += "null";
      return;
    case kind::bool_:
      out += item.get_bool() ? "true" : "false";
      return;
    case kind::int64:
      return append_integer(out, item.get_int64());
    case kind::uint64:
      return append_integer(out, item.get_uint64());
    case kind::double_:
      return append_float(out, item.get_double());
    case kind::string:
      return append_string(out, item.get_string());
    case kind::array:
      return append_array(out, item.get_array());
    case kind::object:
      return append_object(out, item.get_object());
  }
}

}  // namespace

std::string json_text(const value& item) {
  std::string out;
  append_value(out, item);
  return out;
}

}  // namespace vitrine::exporters
