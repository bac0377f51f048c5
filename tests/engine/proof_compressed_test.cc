// SPDX-License-Identifier: Apache-2.0
#include "engine/proof_compressed.h"

#include <catch2/catch.hpp>
#include <span>
#include <string>

namespace vitrine::engine::testing {
namespace {

using kernels::Bls12_381;

std::string hex(std::span<const std::byte> bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

// The generators' encodings, from the specification.
const std::string kG1 =
    "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22"
    "c6bb";
const std::string kG2 =
    "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d04"
    "2b7e024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8"
    "c121bdb8";

// The first digit says compressed and infinity; 2 more is the bit of the larger root.
std::string with_larger_root_bit(std::string encoding) {
  encoding.front() = 'b';
  return encoding;
}

TEST_CASE("generators compress to their published encodings") {
  CHECK(hex(compress(Bls12_381::G1::generator())) == kG1);
  CHECK(hex(compress(Bls12_381::G2::generator())) == kG2);
}

TEST_CASE("of two opposite points the one with the larger y has its bit set") {
  const auto g1 = compress(Bls12_381::G1::generator().negated());
  CHECK(hex(g1) == with_larger_root_bit(kG1));
  const auto g2 = compress(Bls12_381::G2::generator().negated());
  CHECK(hex(g2) == with_larger_root_bit(kG2));
}

TEST_CASE("infinity has only its flags") {
  CHECK(hex(compress(kernels::AffinePoint<Bls12_381::G1>())) == "c0" + std::string(94, '0'));
}

TEST_CASE("a proof is A, B, C one after the other") {
  ProofPoints<Bls12_381> proof;
  proof.a = Bls12_381::G1::generator();
  proof.b = Bls12_381::G2::generator();
  proof.c = Bls12_381::G1::generator();
  CHECK(hex(compress(proof)) == kG1 + kG2 + kG1);
}

}  // namespace
}  // namespace vitrine::engine::testing
