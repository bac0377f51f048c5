// SPDX-License-Identifier: Apache-2.0
// Little-endian 64-bit limbs: the fixed-size integers under every field.
//
// Layout: limbs[0] is least significant; an N-limb integer is below 2^(64 N).
// Threads: pure functions.
// Why: everything is constexpr, so constants are derived from a modulus at compile time by the very
//   code that runs later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace vitrine::kernels {

template <std::size_t N>
using LimbArray = std::array<std::uint64_t, N>;

__extension__ typedef unsigned __int128 WideLimb;

// a + b + carry; carry is 0 or 1 before and after.
constexpr std::uint64_t add_with_carry(std::uint64_t a, std::uint64_t b, std::uint64_t& carry) {
  const WideLimb sum = static_cast<WideLimb>(a) + b + carry;
  carry = static_cast<std::uint64_t>(sum >> 64);
  return static_cast<std::uint64_t>(sum);
}

// a - b - borrow; borrow is 0 or 1 before and after.
constexpr std::uint64_t subtract_with_borrow(std::uint64_t a, std::uint64_t b,
                                             std::uint64_t& borrow) {
  const WideLimb difference = static_cast<WideLimb>(a) - b - borrow;
  borrow = static_cast<std::uint64_t>(difference >> 64) & 1;
  return static_cast<std::uint64_t>(difference);
}

// a * b + c + carry, which never exceeds 128 bits; the high half goes to carry.
constexpr std::uint64_t multiply_add(std::uint64_t a, std::uint64_t b, std::uint64_t c,
                                     std::uint64_t& carry) {
  const WideLimb sum = static_cast<WideLimb>(a) * b + c + carry;
  carry = static_cast<std::uint64_t>(sum >> 64);
  return static_cast<std::uint64_t>(sum);
}

template <std::size_t N>
constexpr bool is_less(const LimbArray<N>& a, const LimbArray<N>& b) {
  for (std::size_t i = N; i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i];
  }
  return false;
}

template <std::size_t N>
constexpr LimbArray<N> subtract_limbs(const LimbArray<N>& a, const LimbArray<N>& b) {
  LimbArray<N> difference{};
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < N; ++i) difference[i] = subtract_with_borrow(a[i], b[i], borrow);
  return difference;
}

// The quotient; the remainder is dropped. Schoolbook by one limb, for exponents such as (p - 1)
// / 6.
template <std::size_t N>
constexpr LimbArray<N> divide_limbs(const LimbArray<N>& a, std::uint64_t divisor) {
  LimbArray<N> quotient{};
  WideLimb remainder = 0;
  for (std::size_t i = N; i-- > 0;) {
    const WideLimb part = (remainder << 64) | a[i];
    quotient[i] = static_cast<std::uint64_t>(part / divisor);
    remainder = part % divisor;
  }
  return quotient;
}

// Bits needed to write the integer; 0 for 0.
constexpr std::size_t bit_length(std::span<const std::uint64_t> limbs) {
  for (std::size_t i = limbs.size(); i-- > 0;) {
    for (std::size_t bit = 64; bit-- > 0;) {
      if ((limbs[i] >> bit) & 1) return 64 * i + bit + 1;
    }
  }
  return 0;
}

constexpr bool bit_at(std::span<const std::uint64_t> limbs, std::size_t index) {
  return ((limbs[index / 64] >> (index % 64)) & 1) != 0;
}

// Big-endian hexadecimal digits, as specifications print their constants. Not for input: a wrong
// digit or a too long number is a compile error because every use is constexpr.
template <std::size_t N>
consteval LimbArray<N> limbs_from_hex(std::string_view digits) {
  LimbArray<N> limbs{};
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const char digit = digits[digits.size() - 1 - i];
    const bool decimal = digit >= '0' && digit <= '9';
    if (!decimal && (digit < 'a' || digit > 'f')) throw "not a lower-case hexadecimal digit";
    const auto value = static_cast<std::uint64_t>(decimal ? digit - '0' : digit - 'a' + 10);
    limbs.at(i / 16) |= value << (4 * (i % 16));
  }
  return limbs;
}

}  // namespace vitrine::kernels
