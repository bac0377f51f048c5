// SPDX-License-Identifier: Apache-2.0
// The 128 random bits that tell one run of an engine from every other, and their text.
#pragma once

#include <sys/random.h>

#include <array>
#include <cassert>
#include <cstdint>
#include <string>

namespace vitrine::shm {

using Incarnation = std::array<std::uint8_t, 16>;
inline constexpr std::size_t kIncarnationDigits = 32;

inline Incarnation new_incarnation() {
  Incarnation bits{};
  const bool is_filled = ::getrandom(bits.data(), bits.size(), 0) == ssize_t{sizeof(bits)};
  assert(is_filled && "getrandom delivers 16 bytes whole once the pool is ready");
  return bits;
}

// 32 lower-case hex digits.
inline std::string incarnation_text(const Incarnation& bits) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(kIncarnationDigits);
  for (const std::uint8_t byte : bits) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace vitrine::shm
