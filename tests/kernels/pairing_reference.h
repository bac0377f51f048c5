// SPDX-License-Identifier: Apache-2.0
// The optimal ate pairing as the definition has it: points untwisted to E(Fq12), affine lines with
// one inversion each, the whole final exponentiation by one big integer. Slow and obvious.
// Source: Vercauteren, "Optimal pairings" (2010).
#pragma once

#include <type_traits>
#include <utility>

#include "kernels/pairing.h"
#include "tests/kernels/big_integer.h"

namespace vitrine::tests {

template <class Curve>
struct UntwistedPoint {
  typename Curve::Fq12 x, y;
};

template <class Curve>
typename Curve::Fq12 embed(const typename Curve::Fq2& value) {
  return {{value, {}, {}}, {}};
}

template <class Curve>
UntwistedPoint<Curve> untwist(const kernels::AffinePoint<typename Curve::G2>& q) {
  using Fq2 = typename Curve::Fq2;
  const typename Curve::Fq12 w = {{}, {Fq2::one(), {}, {}}};
  const bool divides = std::is_same_v<Curve, kernels::Bls12_381>;
  const typename Curve::Fq12 scale = divides ? w.inverse() : w;
  return {embed<Curve>(q.x) * scale * scale, embed<Curve>(q.y) * scale * scale * scale};
}

template <class Curve>
class ReferenceMillerLoop {
 public:
  using Fq12 = typename Curve::Fq12;
  using Point = UntwistedPoint<Curve>;

  ReferenceMillerLoop(const kernels::AffinePoint<typename Curve::G1>& p, const Point& q)
      : p_{embed<Curve>({p.x, {}}), embed<Curve>({p.y, {}})}, t_(q) {}

  void double_point() {
    const Fq12 xx = t_.x * t_.x;
    f = f * f;
    step(t_, (xx + xx + xx) * (t_.y + t_.y).inverse());
  }
  void add_point(const Point& q) { step(q, (q.y - t_.y) * (q.x - t_.x).inverse()); }

  Fq12 f = Fq12::one();

 private:
  // The line through T with this slope, at P; T becomes its third intersection, mirrored.
  void step(const Point& other, const Fq12& slope) {
    f = f * (p_.y - t_.y - slope * (p_.x - t_.x));
    const Fq12 x = slope * slope - t_.x - other.x;
    t_ = {x, slope * (t_.x - x) - t_.y};
  }

  Point p_, t_;
};

// Of two finite points. Vertical lines are left out: the final exponentiation makes them one.
template <class Curve>
typename Curve::Fq12 reference_pairing(const kernels::AffinePoint<typename Curve::G1>& p,
                                       const kernels::AffinePoint<typename Curve::G2>& q) {
  using Fq12 = typename Curve::Fq12;
  const bool is_bn254 = std::is_same_v<Curve, kernels::Bn254>;
  const BigInteger count =
      is_bn254 ? 6 * BigInteger(4965661367192848881) + 2 : BigInteger(0xd201000000010000);
  const UntwistedPoint<Curve> point = untwist<Curve>(q);
  ReferenceMillerLoop<Curve> loop(p, point);
  for (unsigned bit = msb(count); bit-- > 0;) {
    loop.double_point();
    if (bit_test(count, bit)) loop.add_point(point);
  }
  const BigInteger prime = to_big(Curve::Fq::modulus());
  if (is_bn254) {
    const auto power = [&](const Fq12& value) { return value.pow(to_limbs(prime)); };
    const UntwistedPoint<Curve> q1 = {power(point.x), power(point.y)};
    const UntwistedPoint<Curve> q2 = {power(q1.x), power(q1.y)};
    loop.add_point(q1);
    loop.add_point({q2.x, Fq12{} - q2.y});
  } else {
    loop.f = loop.f.inverse();  // x is negative
  }
  const BigInteger exponent =
      (boost::multiprecision::pow(prime, 12) - 1) / to_big(Curve::Fr::modulus());
  return loop.f.pow(to_limbs(exponent));
}

// pairing() is this power of reference_pairing() (pairing.h).
template <class Curve>
BigInteger reference_power() {
  if (std::is_same_v<Curve, kernels::Bls12_381>) return 3;
  const BigInteger x = 4965661367192848881;
  return 2 * x * (6 * x * x + 3 * x + 1);
}

}  // namespace vitrine::tests
