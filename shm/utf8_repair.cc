// SPDX-License-Identifier: Apache-2.0
#include "shm/utf8_repair.h"

namespace vitrine::shm {
namespace {

// What a lead byte asks for: how many bytes follow, and the range of the first of them. Overlong
// forms, surrogates and values past U+10FFFF are excluded by that range.
struct Lead {
  int followers;
  unsigned char low;
  unsigned char high;
};

Lead classify(unsigned char byte) {
  if (byte < 0x80) return {0, 0, 0};
  if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3, 0x80, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {-1, 0, 0};
}

}  // namespace

std::string repair_utf8(std::string_view bytes) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    Lead lead = classify(static_cast<unsigned char>(bytes[at]));
    std::size_t end = at + 1;
    while (lead.followers > 0 && end < bytes.size()) {
      const auto byte = static_cast<unsigned char>(bytes[end]);
      if (byte < lead.low || byte > lead.high) break;
      lead = {lead.followers - 1, 0x80, 0xBF};
      ++end;
    }
    text += lead.followers == 0 ? bytes.substr(at, end - at) : kReplacement;
    at = end;
  }
  return text;
}

}  // namespace vitrine::shm
