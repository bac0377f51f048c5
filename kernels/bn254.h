// SPDX-License-Identifier: Apache-2.0
// BN254, also known as alt_bn128 and, in snarkjs' files, bn128: fields, groups, generators.
//
// E: y^2 = x^3 + 3 over Fq; twist E': y^2 = x^3 + 3 / (9 + u) over Fq2 = Fq[u] / (u^2 + 1).
// Threads: constants only.
// Source: EIP-196 and EIP-197 (Ethereum); Barreto, Naehrig, "Pairing-friendly elliptic curves of
//   prime order" (2005), with x = 4965661367192848881.
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

struct Bn254FqParams {
  static constexpr std::size_t kLimbs = 4;
  static constexpr LimbArray<kLimbs> kModulus =
      limbs_from_hex<kLimbs>("30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47");
};

struct Bn254FrParams {
  static constexpr std::size_t kLimbs = 4;
  static constexpr LimbArray<kLimbs> kModulus =
      limbs_from_hex<kLimbs>("30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001");
};

// xi = 9 + u; the tower above Fq2 (extension_field_tower.h).
struct Bn254Tower {
  using Fq2 = QuadraticExtension<PrimeField<Bn254FqParams>>;
  static constexpr Fq2 multiply_by_xi(const Fq2& a) {
    // 8 a + a + u a, without multiplications.
    const Fq2 a9 = a.doubled().doubled().doubled() + a;
    return {a9.c0 - a.c1, a9.c1 + a.c0};
  }
  static const std::array<Fq2, 6>& frobenius_coefficients();
};

struct Bn254 {
  using Fq = PrimeField<Bn254FqParams>;
  using Fr = PrimeField<Bn254FrParams>;
  using Fq2 = QuadraticExtension<Fq>;
  using Fq12 = DodecicExtension<Bn254Tower>;

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

  static constexpr std::string_view kName = "bn128";
};

}  // namespace vitrine::kernels
