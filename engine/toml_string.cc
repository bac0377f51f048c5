// SPDX-License-Identifier: Apache-2.0
#include "engine/toml_string.h"

#include <array>
#include <cstdio>

namespace vitrine::engine {

std::string toml_string(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < 0x20 || code == 0x7F) {
      std::array<char, 8> escaped;
      std::snprintf(escaped.data(), escaped.size(), "\\u%04X", unsigned{code});
      result += escaped.data();
      continue;
    }
    if (letter == '"' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + "\"";
}

}  // namespace vitrine::engine
