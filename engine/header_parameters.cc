// SPDX-License-Identifier: Apache-2.0
#include "engine/header_parameters.h"

#include <algorithm>

namespace vitrine::engine {
namespace {

constexpr std::string_view kBlank = " \t";

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(kBlank), text.size());
  const std::size_t end = text.find_last_not_of(kBlank);
  return end == text.npos ? std::string_view() : text.substr(begin, end + 1 - begin);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

// Takes a text in quotes off `rest`, which begins with the first quote.
std::optional<std::string> take_quoted(std::string_view& rest) {
  std::string text;
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] == '"') {
      rest.remove_prefix(at + 1);
      return text;
    }
    const bool is_quoted_next =
        rest[at] == '\\' && at + 1 < rest.size() && (rest[at + 1] == '"' || rest[at + 1] == '\\');
    if (is_quoted_next) ++at;
    text += rest[at];
  }
  return std::nullopt;
}

std::optional<std::string> take_value(std::string_view& rest) {
  if (rest.starts_with('"')) return take_quoted(rest);
  const std::string_view token = without_blanks(rest.substr(0, rest.find(';')));
  if (token.empty() || token.find_first_of("\" \t") != token.npos) return std::nullopt;
  rest.remove_prefix(std::min(rest.find(';'), rest.size()));
  return std::string(token);
}

}  // namespace

std::optional<ValueWithParameters> parse_parameters(std::string_view header) {
  ValueWithParameters parsed;
  parsed.value = lower_case(without_blanks(header.substr(0, header.find(';'))));
  std::string_view rest = header.substr(std::min(header.find(';'), header.size()));
  while (!rest.empty()) {
    if (rest.front() != ';') return std::nullopt;
    rest = without_blanks(rest.substr(1));
    if (rest.empty()) break;  // some clients end with a semicolon
    const std::size_t equals = rest.find('=');
    if (equals == rest.npos || equals == 0) return std::nullopt;
    std::string name = lower_case(rest.substr(0, equals));
    if (name.find_first_of("; \t\"") != name.npos) return std::nullopt;
    rest.remove_prefix(equals + 1);
    auto value = take_value(rest);
    if (!value) return std::nullopt;
    if (!parsed.parameters.emplace(std::move(name), std::move(*value)).second) return std::nullopt;
    rest = without_blanks(rest);
  }
  return parsed;
}

}  // namespace vitrine::engine
