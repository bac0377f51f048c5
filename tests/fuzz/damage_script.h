// SPDX-License-Identifier: Apache-2.0
// Scripts of damage for a fuzzer: small inputs that change a large file at the places that decide.
//
// Layout   a script is one byte, which of the bases to take, then steps of 12 bytes: kind, one
//          byte, place (u16), value (u64), all in little endian. A step that is cut off is not
//          done.
// Why      a segment is tens of kilobytes of which few bytes decide; a script reaches each of them
//          by its number, keeps the corpus small, and follows the format when that grows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace vitrine::fuzz {

// In the first byte beside the number of the base: a target may then do less with the file.
inline constexpr std::uint8_t kStateOnly = 0x80;
inline constexpr std::size_t kStepBytes = 12;
inline constexpr std::size_t kStepsMax = 40;

enum class Damage : std::uint8_t {
  kSetWord,   // 8 bytes at a place
  kSetHalf,   // 4 bytes at a place
  kAdd,       // to the 8 bytes at a place
  kAnywhere,  // the low half of the value, at the offset in its high half
  kTruncate,  // the file ends here
  kFill,      // as many bytes as the second byte says, all like the first of the value
  kCopy,      // 8 bytes from the place whose number is the value
  kKinds
};

// A file with the same bytes in every run, and the offsets in it that readers decide by.
struct Base {
  std::string bytes;
  std::vector<std::uint32_t> places;
};

// The value at an offset of a file.
template <class Value>
Value load(const std::string& bytes, std::size_t offset) {
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// As much of the value as the file has room for.
template <class Value>
void store(std::string& bytes, std::size_t offset, Value value) {
  if (offset >= bytes.size()) return;
  std::memcpy(bytes.data() + offset, &value, std::min(sizeof(value), bytes.size() - offset));
}

// What the script makes of its base. A base number beyond the last means that the rest of the
// script is the file.
std::string damaged(const std::vector<Base>& bases, std::span<const std::uint8_t> script);

// The bases of this target: each target defines them.
const std::vector<Base>& bases();

}  // namespace vitrine::fuzz
