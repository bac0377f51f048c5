// SPDX-License-Identifier: Apache-2.0
// The quadratic extension Fq2 = Fq[u] / (u^2 + 1), which both curves use for G2.
//
// Layout: c0 + c1 u as two base field elements, c0 first.
// Threads: values; no shared state.
// Why: products are not inlined: a point addition has a dozen, and inlined it outgrows the
//   instruction cache and triples its compile time.
// Source: Devegili, O hEigeartaigh, Scott, Dahab, "Multiplication and squaring on pairing-friendly
//   fields" (2006): Karatsuba multiplication and complex squaring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/limbs.h"

namespace vitrine::kernels {

template <class Base>
struct QuadraticExtension {
  static_assert((Base::modulus()[0] & 3) == 3, "-1 must not be a square in the base field");
  using BaseField = Base;
  static constexpr std::size_t kBytes = 2 * Base::kBytes;

  Base c0, c1;

  static constexpr QuadraticExtension zero() { return {}; }
  static constexpr QuadraticExtension one() { return {Base::one(), Base::zero()}; }

  constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
  constexpr bool operator==(const QuadraticExtension&) const = default;

  friend constexpr QuadraticExtension operator+(const QuadraticExtension& a,
                                                const QuadraticExtension& b) {
    return {a.c0 + b.c0, a.c1 + b.c1};
  }
  friend constexpr QuadraticExtension operator-(const QuadraticExtension& a,
                                                const QuadraticExtension& b) {
    return {a.c0 - b.c0, a.c1 - b.c1};
  }
  constexpr QuadraticExtension operator-() const { return {-c0, -c1}; }

  [[gnu::noinline]] friend constexpr QuadraticExtension operator*(const QuadraticExtension& a,
                                                                  const QuadraticExtension& b) {
    const Base low = a.c0 * b.c0;
    const Base high = a.c1 * b.c1;
    const Base cross = (a.c0 + a.c1) * (b.c0 + b.c1);
    return {low - high, cross - low - high};
  }
  friend constexpr QuadraticExtension operator*(const QuadraticExtension& a, const Base& scale) {
    return {a.c0 * scale, a.c1 * scale};
  }

  constexpr QuadraticExtension& operator+=(const QuadraticExtension& b) {
    return *this = *this + b;
  }
  constexpr QuadraticExtension& operator-=(const QuadraticExtension& b) {
    return *this = *this - b;
  }
  constexpr QuadraticExtension& operator*=(const QuadraticExtension& b) {
    return *this = *this * b;
  }

  [[gnu::noinline]] constexpr QuadraticExtension squared() const {
    return {(c0 + c1) * (c0 - c1), (c0 * c1).doubled()};
  }
  constexpr QuadraticExtension doubled() const { return {c0.doubled(), c1.doubled()}; }

  // c0 - c1 u, which is also the p-th power.
  constexpr QuadraticExtension conjugated() const { return {c0, -c1}; }

  // The inverse of 0 is 0.
  constexpr QuadraticExtension inverse() const {
    const Base norm_inverse = (c0.squared() + c1.squared()).inverse();
    return {c0 * norm_inverse, -(c1 * norm_inverse)};
  }

  // Left to right square and multiply; the exponent is a plain integer, 0 gives one.
  constexpr QuadraticExtension pow(std::span<const std::uint64_t> exponent) const {
    QuadraticExtension result = one();
    for (std::size_t i = bit_length(exponent); i-- > 0;) {
      result = result.squared();
      if (bit_at(exponent, i)) result *= *this;
    }
    return result;
  }
};

}  // namespace vitrine::kernels
