// SPDX-License-Identifier: Apache-2.0
// The tower over Fq2 that pairings live in: Fq6 = Fq2[v] / (v^3 - xi), Fq12 = Fq6[w] / (w^2 - v).
//
// A Tower names its Fq2, multiply_by_xi(), and frobenius_coefficients(): xi^(i (p - 1) / 6), i =
// 0..5. Layout: an Fq12 is sum a_i w^i with a_i in Fq2; c0 = (a0, a2, a4), c1 = (a1, a3, a5).
// Threads: values; no shared state.
// Source: Devegili et al. (2006) for products; Chung, Hasan, "Asymmetric squaring formulae" (2007),
//   SQR2; Granger, Scott, "Faster squaring in the cyclotomic subgroup of sixth degree extensions"
//   (2010), section 3.2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "kernels/limbs.h"

namespace vitrine::kernels {

template <class Tower>
struct CubicExtension {
  using Fq2 = typename Tower::Fq2;
  Fq2 c0, c1, c2;

  static constexpr CubicExtension one() { return {Fq2::one(), {}, {}}; }
  constexpr bool operator==(const CubicExtension&) const = default;

  friend CubicExtension operator+(const CubicExtension& a, const CubicExtension& b) {
    return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2};
  }
  friend CubicExtension operator-(const CubicExtension& a, const CubicExtension& b) {
    return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2};
  }
  CubicExtension operator-() const { return {-c0, -c1, -c2}; }

  friend CubicExtension operator*(const CubicExtension& a, const CubicExtension& b) {
    const Fq2 v0 = a.c0 * b.c0;
    const Fq2 v1 = a.c1 * b.c1;
    const Fq2 v2 = a.c2 * b.c2;
    return {v0 + Tower::multiply_by_xi((a.c1 + a.c2) * (b.c1 + b.c2) - v1 - v2),
            (a.c0 + a.c1) * (b.c0 + b.c1) - v0 - v1 + Tower::multiply_by_xi(v2),
            (a.c0 + a.c2) * (b.c0 + b.c2) - v0 + v1 - v2};
  }
  friend CubicExtension operator*(const CubicExtension& a, const Fq2& b) {
    return {a.c0 * b, a.c1 * b, a.c2 * b};
  }

  // Times b0 + b1 v: five products instead of six.
  CubicExtension multiplied_by_01(const Fq2& b0, const Fq2& b1) const {
    const Fq2 v0 = c0 * b0;
    const Fq2 v1 = c1 * b1;
    return {v0 + Tower::multiply_by_xi((c1 + c2) * b1 - v1), (c0 + c1) * (b0 + b1) - v0 - v1,
            (c0 + c2) * b0 - v0 + v1};
  }

  CubicExtension multiplied_by_v() const { return {Tower::multiply_by_xi(c2), c0, c1}; }

  CubicExtension squared() const {
    const Fq2 s0 = c0.squared();
    const Fq2 s1 = (c0 * c1).doubled();
    const Fq2 s2 = (c0 - c1 + c2).squared();
    const Fq2 s3 = (c1 * c2).doubled();
    const Fq2 s4 = c2.squared();
    return {s0 + Tower::multiply_by_xi(s3), s1 + Tower::multiply_by_xi(s4), s1 + s2 + s3 - s0 - s4};
  }

  // The inverse of 0 is 0.
  CubicExtension inverse() const {
    const Fq2 t0 = c0.squared() - Tower::multiply_by_xi(c1 * c2);
    const Fq2 t1 = Tower::multiply_by_xi(c2.squared()) - c0 * c1;
    const Fq2 t2 = c1.squared() - c0 * c2;
    const Fq2 norm = c0 * t0 + Tower::multiply_by_xi(c1 * t2 + c2 * t1);
    return CubicExtension{t0, t1, t2} * norm.inverse();
  }
};

template <class Tower>
struct DodecicExtension {
  using Fq2 = typename Tower::Fq2;
  using Fq6 = CubicExtension<Tower>;
  Fq6 c0, c1;

  static constexpr DodecicExtension one() { return {Fq6::one(), {}}; }
  constexpr bool is_one() const { return *this == one(); }
  constexpr bool operator==(const DodecicExtension&) const = default;

  friend DodecicExtension operator+(const DodecicExtension& a, const DodecicExtension& b) {
    return {a.c0 + b.c0, a.c1 + b.c1};
  }
  friend DodecicExtension operator-(const DodecicExtension& a, const DodecicExtension& b) {
    return {a.c0 - b.c0, a.c1 - b.c1};
  }
  friend DodecicExtension operator*(const DodecicExtension& a, const DodecicExtension& b) {
    const Fq6 low = a.c0 * b.c0;
    const Fq6 high = a.c1 * b.c1;
    return {low + high.multiplied_by_v(), (a.c0 + a.c1) * (b.c0 + b.c1) - low - high};
  }
  DodecicExtension& operator*=(const DodecicExtension& b) { return *this = *this * b; }

  DodecicExtension squared() const {
    const Fq6 product = c0 * c1;
    return {(c0 + c1) * (c0 + c1.multiplied_by_v()) - product - product.multiplied_by_v(),
            product + product};
  }

  // The p^6-th power; the inverse of an element of the cyclotomic subgroup.
  DodecicExtension conjugated() const { return {c0, -c1}; }

  // The inverse of 0 is 0.
  DodecicExtension inverse() const {
    const Fq6 norm_inverse = (c0.squared() - c1.squared().multiplied_by_v()).inverse();
    return {c0 * norm_inverse, -(c1 * norm_inverse)};
  }

  // The p-th power.
  DodecicExtension frobenius() const {
    const std::array<Fq2, 6>& power = Tower::frobenius_coefficients();
    return {{c0.c0.conjugated(), c0.c1.conjugated() * power[2], c0.c2.conjugated() * power[4]},
            {c1.c0.conjugated() * power[1], c1.c1.conjugated() * power[3],
             c1.c2.conjugated() * power[5]}};
  }

  // Only in the cyclotomic subgroup, that is, for (p^6 - 1)(p^2 + 1)-th powers. As a cubic
  // extension of Fq4 = Fq2[s], s = w^3, the square of A + B w + C w^2 there is (3 A^2 - 2 A') + (3
  // s C^2 + 2 B') w + (3 B^2 - 2 C') w^2, where ' maps s to -s.
  DodecicExtension cyclotomic_squared() const {
    const auto [a_low, a_high] = square_over_fq2(c0.c0, c1.c1);
    const auto [b_low, b_high] = square_over_fq2(c1.c0, c0.c2);
    const auto [c_low, c_high] = square_over_fq2(c0.c1, c1.c2);
    return {{triple_minus_double(a_low, c0.c0), triple_minus_double(b_low, c0.c1),
             triple_minus_double(c_low, c0.c2)},
            {triple_plus_double(Tower::multiply_by_xi(c_high), c1.c0),
             triple_plus_double(a_high, c1.c1), triple_plus_double(b_high, c1.c2)}};
  }

  // Left to right square and multiply; the exponent is a plain integer, 0 gives one.
  DodecicExtension pow(std::span<const std::uint64_t> exponent) const {
    DodecicExtension result = one();
    for (std::size_t i = bit_length(exponent); i-- > 0;) {
      result = result.squared();
      if (bit_at(exponent, i)) result *= *this;
    }
    return result;
  }

 private:
  // (low + high s)^2 in Fq4, s^2 = xi.
  static std::pair<Fq2, Fq2> square_over_fq2(const Fq2& low, const Fq2& high) {
    const Fq2 low_squared = low.squared();
    const Fq2 high_squared = high.squared();
    return {low_squared + Tower::multiply_by_xi(high_squared),
            (low + high).squared() - low_squared - high_squared};
  }
  static Fq2 triple_minus_double(const Fq2& a, const Fq2& b) { return (a - b).doubled() + a; }
  static Fq2 triple_plus_double(const Fq2& a, const Fq2& b) { return (a + b).doubled() + a; }
};

}  // namespace vitrine::kernels
