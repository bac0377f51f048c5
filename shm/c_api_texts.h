// SPDX-License-Identifier: Apache-2.0
// What both halves of the C interface do alike: bounded texts in and out, structs of another age,
// and no exception past the border.
#pragma once

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "shm/vitrine.h"

namespace vitrine::shm {

inline constexpr std::size_t kTextBytesMax = 4096;

// A caller's text; empty for NULL.
inline std::string_view given_text(const char* text) {
  return text == nullptr ? std::string_view()
                         : std::string_view(text, strnlen(text, kTextBytesMax));
}

// Copies what fits, always with a zero byte at its end; the whole length.
inline std::size_t copy_out(std::string_view text, char* out, std::size_t size) {
  if (out == nullptr || size == 0) return text.size();
  const std::size_t length = std::min(text.size(), size - 1);
  std::copy_n(text.data(), length, out);
  out[length] = '\0';
  return text.size();
}

// A struct as this library knows it; what the caller's is too short for is zero. False when its
// `size` cannot be one.
template <class Struct>
bool read_sized(const Struct* given, Struct& out) {
  if (given == nullptr || given->size < sizeof(given->size)) return false;
  std::memset(&out, 0, sizeof(out));
  std::memcpy(&out, given, std::min(given->size, sizeof(out)));
  return true;
}

// Runs body(), whose code it gives back.
template <class Body>
auto without_exceptions(Body body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return VITRINE_NO_MEMORY;
  } catch (...) {
    return VITRINE_SYSTEM;
  }
}

}  // namespace vitrine::shm
