// SPDX-License-Identifier: Apache-2.0
// Curve constants of BLS12-381, checked and derived by the compiler.
#include "kernels/bls12_381.h"

namespace vitrine::kernels {
namespace {

using Fq = Bls12_381::Fq;
using Fq2 = Bls12_381::Fq2;

constexpr Fq kB = Fq::from_u64(4);
constexpr Fq2 kTwistB = Bls12_381Tower::multiply_by_xi(Fq2::one()) * kB;

// xi^(i (p - 1) / 6).
constexpr std::array<Fq2, 6> frobenius_powers() {
  const Fq2 xi = Bls12_381Tower::multiply_by_xi(Fq2::one());
  const Fq2 step = xi.pow(divide_limbs(Fq::modulus(), 6));
  std::array<Fq2, 6> powers = {Fq2::one()};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * step;
  return powers;
}

constexpr std::array<Fq2, 6> kFrobeniusPowers = frobenius_powers();

constexpr Fq fq(const Fq::Limbs& integer) { return Fq::from_integer(integer); }

constexpr AffinePoint<Bls12_381::G1> kG1Generator = {
    fq(limbs_from_hex<6>("17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905"
                         "a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb")),
    fq(limbs_from_hex<6>("08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af6"
                         "00db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1"))};

constexpr AffinePoint<Bls12_381::G2> kG2Generator = {
    {fq(limbs_from_hex<6>("024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02"
                          "b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8")),
     fq(limbs_from_hex<6>("13e02b6052719f607dacd3a088274f65596bd0d09920b61a"
                          "b5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e"))},
    {fq(limbs_from_hex<6>("0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a7"
                          "6d429a695160d12c923ac9cc3baca289e193548608b82801")),
     fq(limbs_from_hex<6>("0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af"
                          "267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be"))}};

static_assert(kG1Generator.y.squared() == kG1Generator.x.squared() * kG1Generator.x + kB);
static_assert(kG2Generator.y.squared() == kG2Generator.x.squared() * kG2Generator.x + kTwistB);

}  // namespace

const std::array<Fq2, 6>& Bls12_381Tower::frobenius_coefficients() { return kFrobeniusPowers; }
const Fq& Bls12_381::G1::b() { return kB; }
const Fq2& Bls12_381::G2::b() { return kTwistB; }
AffinePoint<Bls12_381::G1> Bls12_381::G1::generator() { return kG1Generator; }
AffinePoint<Bls12_381::G2> Bls12_381::G2::generator() { return kG2Generator; }

}  // namespace vitrine::kernels
