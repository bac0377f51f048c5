// SPDX-License-Identifier: Apache-2.0
// Little-endian values and field elements out of bytes that came from a file.
//
// Why: sections are unaligned and hostile, so values are copied out, never pointed at, and field
// elements are only made from limbs below the modulus.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "kernels/curve_point.h"
#include "kernels/extension_field.h"
#include "kernels/prime_field.h"

namespace vitrine::engine {

static_assert(std::endian::native == std::endian::little, "files are little endian");

// Takes values from the front of a byte range. Asking for more than is left is a broken invariant:
// the caller has compared lengths before.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t left() const { return bytes_.size(); }

  template <class Value>
  [[nodiscard]] Value take() {
    static_assert(std::is_trivially_copyable_v<Value>);
    assert(bytes_.size() >= sizeof(Value));
    Value value;
    std::memcpy(&value, bytes_.data(), sizeof(Value));
    bytes_ = bytes_.subspan(sizeof(Value));
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
};

// Reads a coordinate in Montgomery form. False when it is not below the modulus.
template <class Params>
[[nodiscard]] bool take_montgomery(ByteReader& reader, kernels::PrimeField<Params>& value) {
  using Field = kernels::PrimeField<Params>;
  const auto limbs = reader.take<typename Field::Limbs>();
  if (!Field::is_canonical(limbs)) return false;
  value = Field::from_montgomery(limbs);
  return true;
}

template <class Field>
[[nodiscard]] bool take_montgomery(ByteReader& reader, kernels::QuadraticExtension<Field>& value) {
  const bool first = take_montgomery(reader, value.c0);
  const bool second = take_montgomery(reader, value.c1);
  return first && second;
}

template <class Group>
[[nodiscard]] bool take_montgomery(ByteReader& reader, kernels::AffinePoint<Group>& point) {
  const bool first = take_montgomery(reader, point.x);
  const bool second = take_montgomery(reader, point.y);
  return first && second;
}

// Bytes of a point in a file: two coordinates.
template <class Group>
inline constexpr std::size_t kPointBytes = 2 * Group::Coordinate::kBytes;

}  // namespace vitrine::engine
