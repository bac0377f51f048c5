// SPDX-License-Identifier: Apache-2.0
#include "shm/printable_text.h"

#include <array>
#include <cstdint>

namespace vitrine::shm {
namespace {

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The character at the start of `text`, by the table of well-formed sequences.
// Source: The Unicode Standard, table 3-7.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text[i])) return {};
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, bytes};
}

// Control characters (C0, DEL, C1), line separators, and the marks that reorder or hide text.
bool is_dangerous(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xAD || code == 0x61C ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF ||
         (code >= 0xE0000 && code <= 0xE0FFF);
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    out.append("\\x");
    out.push_back(kDigits[value >> 4]);
    out.push_back(kDigits[value & 15]);
  }
}

}  // namespace

std::string printable_text(std::string_view text, Charset charset) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::size_t bytes = character.bytes == 0 ? 1 : character.bytes;
    if (character.bytes == 0 || is_dangerous(character.code)) {
      append_escaped(out, text.substr(0, bytes));
    } else if (character.code >= 0x80 && charset == Charset::kAscii) {
      out.push_back('?');
    } else {
      out.append(text.substr(0, bytes));
    }
    text.remove_prefix(bytes);
  }
  return out;
}

std::string printable_end(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view kOmitted = "...";
  const std::string printable = printable_text(text);
  if (printable.size() <= bytes_max) return printable;
  std::size_t begin = printable.size() - (bytes_max - kOmitted.size());
  while (begin < printable.size() && is_continuation(printable[begin])) ++begin;
  return std::string(kOmitted) + printable.substr(begin);
}

}  // namespace vitrine::shm
