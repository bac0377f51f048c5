// SPDX-License-Identifier: Apache-2.0
// A text made to fit a field of a record: one that had to be cut ends with an ellipsis.
//
// Cost  no allocation.
// Why   half a reason that looks like a whole one misleads whoever reads it.
#pragma once

#include <cstddef>
#include <string_view>

#include "shm/field.h"

namespace vitrine::engine {

inline constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

// The longest front of `text`, in whole characters, of at most `size` bytes.
constexpr std::string_view whole_characters(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

template <std::size_t kSize>
void shorten(shm::Text<kSize>& field, std::string_view text) noexcept {
  if (text.size() <= kSize) return field.assign(text);
  const std::string_view kept = whole_characters(text, kSize - kEllipsis.size());
  field.assign(kept);
  kEllipsis.copy(field.bytes + kept.size(), kEllipsis.size());
}

}  // namespace vitrine::engine
