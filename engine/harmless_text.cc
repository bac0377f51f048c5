// SPDX-License-Identifier: Apache-2.0
#include "engine/harmless_text.h"

#include "shm/utf8_repair.h"

namespace vitrine::engine {
namespace {

constexpr std::string_view kOmitted = "...";

bool is_between(std::string_view letter, std::string_view first, std::string_view last) {
  return letter.size() == first.size() && letter >= first && letter <= last;
}

// `letter` is one well-formed UTF-8 sequence.
bool is_harmless(std::string_view letter) {
  return !(is_between(letter, std::string_view("\0", 1), "\x1F") || letter == "\x7F" ||
           is_between(letter, "\xC2\x80", "\xC2\x9F") ||          // C1 controls
           is_between(letter, "\xE2\x80\x8E", "\xE2\x80\x8F") ||  // marks of direction
           is_between(letter, "\xE2\x80\xA8", "\xE2\x80\xAE") ||  // line ends, overrides
           is_between(letter, "\xE2\x81\xA6", "\xE2\x81\xA9"));   // isolates
}

bool continues_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::string harmless_text(std::string_view text) {
  const std::string letters = shm::repair_utf8(text);
  std::string harmless;
  for (std::size_t at = 0; at < letters.size();) {
    std::size_t end = at + 1;
    while (end < letters.size() && continues_letter(letters[end])) ++end;
    const std::string_view letter = std::string_view(letters).substr(at, end - at);
    harmless += is_harmless(letter) ? letter : "?";
    at = end;
  }
  return harmless;
}

std::string harmless_end(std::string_view text, std::size_t bytes_max) {
  const std::string harmless = harmless_text(text);
  if (harmless.size() <= bytes_max) return harmless;
  std::size_t begin = harmless.size() - (bytes_max - kOmitted.size());
  while (begin < harmless.size() && continues_letter(harmless[begin])) ++begin;
  return std::string(kOmitted) + harmless.substr(begin);
}

}  // namespace vitrine::engine
