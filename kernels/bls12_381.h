// SPDX-License-Identifier: Apache-2.0
// BLS12-381, "bls12381" in snarkjs' files: fields, groups, generators.
//
// E: y^2 = x^3 + 4 over Fq; twist E': y^2 = x^3 + 4 (1 + u) over Fq2 = Fq[u] / (u^2 + 1).
// Threads: constants only.
// Source: Bowe, "BLS12-381: New zk-SNARK elliptic curve construction" (2017); draft-irtf-cfrg-
//   pairing-friendly-curves, section 4.2.1; Barreto, Lynn, Scott, "Constructing elliptic curves
//   with prescribed embedding degrees" (2002), with x = -0xd201000000010000.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/curve_point.h"
#include "kernels/extension_field.h"
#include "kernels/extension_field_tower.h"
#include "kernels/prime_field.h"

namespace vitrine::kernels {

struct Bls12_381FqParams {
  static constexpr std::size_t kLimbs = 6;
  static constexpr LimbArray<kLimbs> kModulus = limbs_from_hex<kLimbs>(
      "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf"
      "6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab");
};

struct Bls12_381FrParams {
  static constexpr std::size_t kLimbs = 4;
  static constexpr LimbArray<kLimbs> kModulus =
      limbs_from_hex<kLimbs>("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001");
};

// xi = 1 + u; the tower above Fq2 (extension_field_tower.h).
struct Bls12_381Tower {
  using Fq2 = QuadraticExtension<PrimeField<Bls12_381FqParams>>;
  static constexpr Fq2 multiply_by_xi(const Fq2& a) { return {a.c0 - a.c1, a.c0 + a.c1}; }
  static const std::array<Fq2, 6>& frobenius_coefficients();
};

struct Bls12_381 {
  using Fq = PrimeField<Bls12_381FqParams>;
  using Fr = PrimeField<Bls12_381FrParams>;
  using Fq2 = QuadraticExtension<Fq>;
  using Fq12 = DodecicExtension<Bls12_381Tower>;

  struct G1 {
    using Coordinate = Fq;
    using Scalar = Fr;
    static const Coordinate& b();
    static AffinePoint<G1> generator();
  };
  struct G2 {
    using Coordinate = Fq2;
    using Scalar = Fr;
    static const Coordinate& b();
    static AffinePoint<G2> generator();
  };

  static constexpr std::string_view kName = "bls12381";
};

}  // namespace vitrine::kernels
