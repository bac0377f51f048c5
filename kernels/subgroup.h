// SPDX-License-Identifier: Apache-2.0
// Is a point on its curve, and in the subgroup of prime order r?
//
// Threads: pure functions.
// Cost: curve check 4 multiplications; subgroup check one scalar multiplication (about 90 us on
//   G1 of BLS12-381), except on G1 of BN254, whose cofactor is one.
#pragma once

#include "kernels/bn254.h"
#include "kernels/curve_point.h"

namespace vitrine::kernels {

// Infinity is on every curve.
template <class Group>
bool is_on_curve(const AffinePoint<Group>& point) {
  if (point.is_infinity()) return true;
  return point.y.squared() == point.x.squared() * point.x + Group::b();
}

// The point is on the curve (is_on_curve). Infinity is in every subgroup.
template <class Group>
bool is_in_subgroup(const AffinePoint<Group>& point) {
  return multiply(point, Group::Scalar::modulus()).is_infinity();
}

template <>
inline bool is_in_subgroup(const AffinePoint<Bn254::G1>&) {
  return true;
}

}  // namespace vitrine::kernels
