// SPDX-License-Identifier: Apache-2.0
// Curve constants of BN254, checked and derived by the compiler.
#include "kernels/bn254.h"

namespace vitrine::kernels {
namespace {

using Fq = Bn254::Fq;
using Fq2 = Bn254::Fq2;

constexpr Fq kB = Fq::from_u64(3);
constexpr Fq2 kTwistB = Bn254Tower::multiply_by_xi(Fq2::one()).inverse() * kB;

constexpr AffinePoint<Bn254::G1> kG1Generator = {Fq::from_u64(1), Fq::from_u64(2)};

// xi^(i (p - 1) / 6).
constexpr std::array<Fq2, 6> frobenius_powers() {
  const Fq2 xi = Bn254Tower::multiply_by_xi(Fq2::one());
  const Fq2 step = xi.pow(divide_limbs(Fq::modulus(), 6));
  std::array<Fq2, 6> powers = {Fq2::one()};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * step;
  return powers;
}

constexpr std::array<Fq2, 6> kFrobeniusPowers = frobenius_powers();

constexpr Fq fq(const Fq::Limbs& integer) { return Fq::from_integer(integer); }

constexpr AffinePoint<Bn254::G2> kG2Generator = {
    {fq(limbs_from_hex<4>("1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed")),
     fq(limbs_from_hex<4>("198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2"))},
    {fq(limbs_from_hex<4>("12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa")),
     fq(limbs_from_hex<4>("090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b"))}};

static_assert(kG1Generator.y.squared() == kG1Generator.x.squared() * kG1Generator.x + kB);
static_assert(kG2Generator.y.squared() == kG2Generator.x.squared() * kG2Generator.x + kTwistB);

}  // namespace

const std::array<Fq2, 6>& Bn254Tower::frobenius_coefficients() { return kFrobeniusPowers; }
const Fq& Bn254::G1::b() { return kB; }
const Fq2& Bn254::G2::b() { return kTwistB; }
AffinePoint<Bn254::G1> Bn254::G1::generator() { return kG1Generator; }
AffinePoint<Bn254::G2> Bn254::G2::generator() { return kG2Generator; }

}  // namespace vitrine::kernels
