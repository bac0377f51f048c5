// SPDX-License-Identifier: Apache-2.0
// Points of short Weierstrass curves y^2 = x^3 + b: affine, and XYZZ for sums.
//
// A Group names its Coordinate field, its Scalar field, b() and generator().
// Layout: affine infinity is (0, 0), as snarkjs writes it; no curve here has b = 0, so (0, 0) is
//   never a point. XYZZ has x = X / ZZ, y = Y / ZZZ, ZZ^3 = ZZZ^2; infinity has ZZ = ZZZ = 0.
// Threads: values; no shared state.
// Cost: affine into XYZZ 8M + 2S, XYZZ into XYZZ 12M + 2S, doubling 6M + 3S.
// Why: a bucket takes many affine points; XYZZ has the cheapest mixed addition without inversion.
// Source: Explicit-Formulas Database, shortw/xyzz: madd-2008-s, add-2008-s, mdbl-2008-s-1,
//   dbl-2008-s-1 (Sutherland).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/limbs.h"

namespace vitrine::kernels {

template <class Group>
struct AffinePoint {
  using Coordinate = typename Group::Coordinate;
  Coordinate x, y;

  static constexpr AffinePoint infinity() { return {}; }
  constexpr bool is_infinity() const { return x.is_zero() && y.is_zero(); }
  constexpr AffinePoint negated() const { return {x, -y}; }
  constexpr bool operator==(const AffinePoint&) const = default;
};

template <class Group>
struct XyzzPoint {
  using Coordinate = typename Group::Coordinate;
  using Affine = AffinePoint<Group>;
  Coordinate x, y, zz, zzz;

  static constexpr XyzzPoint infinity() { return {}; }
  static constexpr XyzzPoint from_affine(const Affine& p) {
    if (p.is_infinity()) return infinity();
    return {p.x, p.y, Coordinate::one(), Coordinate::one()};
  }

  constexpr bool is_infinity() const { return zz.is_zero(); }
  constexpr XyzzPoint negated() const { return {x, -y, zz, zzz}; }

  // Adds q in place. Complete: equal, opposite and infinite points are handled.
  constexpr void add(const XyzzPoint& q) {
    if (q.is_infinity()) return;
    if (is_infinity()) {
      *this = q;
      return;
    }
    const Coordinate u1 = x * q.zz;
    const Coordinate s1 = y * q.zzz;
    const Coordinate p = q.x * zz - u1;
    const Coordinate r = q.y * zzz - s1;
    if (p.is_zero()) {
      *this = r.is_zero() ? doubled() : infinity();
      return;
    }
    const Coordinate pp = p.squared();
    const Coordinate ppp = p * pp;
    const Coordinate q1 = u1 * pp;
    x = r.squared() - ppp - q1.doubled();
    y = r * (q1 - x) - s1 * ppp;
    zz = zz * q.zz * pp;
    zzz = zzz * q.zzz * ppp;
  }

  // Adds an affine point in place. Complete as above.
  constexpr void add(const Affine& q) {
    if (q.is_infinity()) return;
    if (is_infinity()) {
      *this = from_affine(q);
      return;
    }
    const Coordinate p = q.x * zz - x;
    const Coordinate r = q.y * zzz - y;
    if (p.is_zero()) {
      *this = r.is_zero() ? doubled(q) : infinity();
      return;
    }
    const Coordinate pp = p.squared();
    const Coordinate ppp = p * pp;
    const Coordinate q1 = x * pp;
    x = r.squared() - ppp - q1.doubled();
    y = r * (q1 - x) - y * ppp;
    zz = zz * pp;
    zzz = zzz * ppp;
  }

  constexpr XyzzPoint doubled() const {
    if (is_infinity()) return infinity();
    const XyzzPoint scaled = doubled(Affine{x, y});
    return {scaled.x, scaled.y, scaled.zz * zz, scaled.zzz * zzz};
  }

  // Twice an affine point other than infinity. A point of order two (y = 0) gives ZZ = 0, infinity.
  static constexpr XyzzPoint doubled(const Affine& p) {
    const Coordinate u = p.y.doubled();
    const Coordinate v = u.squared();
    const Coordinate w = u * v;
    const Coordinate s = p.x * v;
    const Coordinate xx = p.x.squared();
    const Coordinate m = xx.doubled() + xx;
    const Coordinate x3 = m.squared() - s.doubled();
    return {x3, m * (s - x3) - w * p.y, v, w};
  }

  // One inversion; for many points use batch_to_affine.
  constexpr Affine to_affine() const {
    if (is_infinity()) return Affine::infinity();
    // 1 / ZZ = ZZ^2 / ZZZ^2.
    const Coordinate zzz_inverse = zzz.inverse();
    return {x * (zz * zzz_inverse).squared(), y * zzz_inverse};
  }

  // The same point, whatever the representatives.
  constexpr bool operator==(const XyzzPoint& q) const {
    if (is_infinity() || q.is_infinity()) return is_infinity() == q.is_infinity();
    return x * q.zz == q.x * zz && y * q.zzz == q.y * zzz;
  }
};

// Double and add from the top bit; any integer of kLimbs limbs, below the group order or not. Not
// constant time.
template <class Group>
XyzzPoint<Group> multiply(const AffinePoint<Group>& point,
                          const typename Group::Scalar::Limbs& integer) {
  XyzzPoint<Group> sum = XyzzPoint<Group>::infinity();
  for (std::size_t i = bit_length(integer); i-- > 0;) {
    sum = sum.doubled();
    if (bit_at(integer, i)) sum.add(point);
  }
  return sum;
}

// Affine forms of all points with one inversion; affine.size() == points.size().
// Source: Montgomery's simultaneous inversion, "Speeding the Pollard and elliptic curve methods of
//   factorization" (1987).
template <class Group>
void batch_to_affine(std::span<const XyzzPoint<Group>> points,
                     std::span<AffinePoint<Group>> affine) {
  using Coordinate = typename Group::Coordinate;
  assert(points.size() == affine.size());
  std::vector<Coordinate> products_before(points.size());
  Coordinate product = Coordinate::one();
  for (std::size_t i = 0; i < points.size(); ++i) {
    products_before[i] = product;
    if (!points[i].is_infinity()) product *= points[i].zzz;
  }
  Coordinate inverse = product.inverse();
  for (std::size_t i = points.size(); i-- > 0;) {
    const XyzzPoint<Group>& point = points[i];
    if (point.is_infinity()) {
      affine[i] = AffinePoint<Group>::infinity();
      continue;
    }
    const Coordinate zzz_inverse = inverse * products_before[i];
    inverse *= point.zzz;
    affine[i] = {point.x * (point.zz * zzz_inverse).squared(), point.y * zzz_inverse};
  }
}

}  // namespace vitrine::kernels
