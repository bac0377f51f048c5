// SPDX-License-Identifier: Apache-2.0
// Optimal ate pairings of BN254 and BLS12-381.
//
// pairing(P, Q) is e(P, Q)^k for the textbook e with final exponent (p^12 - 1) / r and a fixed k
// prime to r: k = 2 x (6 x^2 + 3 x + 1) on BN254 and k = 3 on BLS12-381, the usual choice of fast
// libraries. Bilinear, not degenerate, and one exactly when e(P, Q) is.
// Threads: pure functions.
// Cost: a Miller loop per term, squarings and the final exponentiation shared by all terms.
// Source: Vercauteren, "Optimal pairings" (2010).
#pragma once

#include <span>

#include "kernels/bls12_381.h"
#include "kernels/bn254.h"

namespace vitrine::kernels {

// Points on their curves and in the subgroups of order r (subgroup.h); infinity is allowed.
template <class Curve>
struct PairingTerm {
  AffinePoint<typename Curve::G1> p;
  AffinePoint<typename Curve::G2> q;
};

template <class Curve>
typename Curve::Fq12 pairing(const AffinePoint<typename Curve::G1>& p,
                             const AffinePoint<typename Curve::G2>& q);

// Is the product of e(p, q) over all terms one? True for no terms.
template <class Curve>
bool pairing_product_is_one(std::span<const PairingTerm<Curve>> terms);

template <>
Bn254::Fq12 pairing<Bn254>(const AffinePoint<Bn254::G1>&, const AffinePoint<Bn254::G2>&);
template <>
bool pairing_product_is_one<Bn254>(std::span<const PairingTerm<Bn254>>);
template <>
Bls12_381::Fq12 pairing<Bls12_381>(const AffinePoint<Bls12_381::G1>&,
                                   const AffinePoint<Bls12_381::G2>&);
template <>
bool pairing_product_is_one<Bls12_381>(std::span<const PairingTerm<Bls12_381>>);

}  // namespace vitrine::kernels
