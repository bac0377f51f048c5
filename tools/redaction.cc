// SPDX-License-Identifier: Apache-2.0
#include "tools/redaction.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace vitrine::tools {
namespace {

constexpr std::string_view kRemoved = "(removed)";
constexpr std::array<std::string_view, 9> kSecretWords = {
    "token",      "password",      "passphrase", "passwd",     "secret",
    "credential", "authorization", "api_key",    "private_key"};

bool is_word_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

// Where the value of the first secret begins; npos when there is none.
std::size_t secret_value(const std::string& line) {
  std::string lower = line;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  std::size_t first = std::string::npos;
  for (const std::string_view word : kSecretWords) {
    for (std::size_t at = lower.find(word); at != std::string::npos;
         at = lower.find(word, at + 1)) {
      std::size_t end = at + word.size();
      while (end < lower.size() && is_word_part(lower[end])) ++end;
      while (end < lower.size() && (lower[end] == ' ' || lower[end] == '"')) ++end;
      if (end < lower.size() && (lower[end] == '=' || lower[end] == ':')) {
        first = std::min(first, end + 1);
      }
    }
  }
  return first;
}

// NAME:PASSWORD@ after //, up to the end of the address.
void remove_user_part(std::string& line) {
  constexpr std::string_view kEndsAddress = " \t\"'/";
  for (std::size_t at = line.find("//"); at != std::string::npos; at = line.find("//", at + 2)) {
    const std::size_t begin = at + 2;
    const std::size_t end = std::min(line.find_first_of(kEndsAddress, begin), line.size());
    const std::size_t user_end = line.rfind('@', end);
    if (user_end == std::string::npos || user_end < begin || user_end >= end) continue;
    line.replace(begin, user_end - begin, kRemoved);
  }
}

std::string redacted_line(std::string line) {
  const std::size_t value = secret_value(line);
  if (value != std::string::npos) line = line.substr(0, value) + " " + std::string(kRemoved);
  remove_user_part(line);
  return line;
}

}  // namespace

std::string redacted(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out += redacted_line(std::string(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace vitrine::tools
