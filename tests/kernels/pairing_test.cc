// SPDX-License-Identifier: Apache-2.0
#include "kernels/pairing.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/kernels/big_integer.h"
#include "tests/kernels/known_answers.h"
#include "tests/kernels/pairing_reference.h"
#include "tests/kernels/random_elements.h"

using namespace vitrine::kernels;
using namespace vitrine::tests;

namespace {

template <class Curve>
auto g1_times(const typename Curve::Fr::Limbs& scalar) {
  return multiply(Curve::G1::generator(), scalar).to_affine();
}

template <class Curve>
auto g2_times(const typename Curve::Fr::Limbs& scalar) {
  return multiply(Curve::G2::generator(), scalar).to_affine();
}

template <class Curve>
typename Curve::Fq12 generator_pairing() {
  return pairing<Curve>(Curve::G1::generator(), Curve::G2::generator());
}

}  // namespace

TEMPLATE_TEST_CASE("the pairing is bilinear", "[pairing]", Bn254, Bls12_381) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  using Fr = typename TestType::Fr;
  const auto base = generator_pairing<TestType>();
  for (int i = 0; i < 4; ++i) {
    const Fr a = random_element<Fr>(source);
    const Fr b = random_element<Fr>(source);
    const auto value =
        pairing<TestType>(g1_times<TestType>(a.to_integer()), g2_times<TestType>(b.to_integer()));
    CHECK(value == base.pow((a * b).to_integer()));
  }
}

TEMPLATE_TEST_CASE("the pairing of the generators has order r", "[pairing]", Bn254, Bls12_381) {
  const auto base = generator_pairing<TestType>();
  CHECK_FALSE(base.is_one());
  CHECK(base.pow(TestType::Fr::modulus()).is_one());
}

TEMPLATE_TEST_CASE("the pairing with infinity is one", "[pairing]", Bn254, Bls12_381) {
  const auto p = TestType::G1::generator();
  const auto q = TestType::G2::generator();
  CHECK(pairing<TestType>({}, q).is_one());
  CHECK(pairing<TestType>(p, {}).is_one());
  CHECK(pairing<TestType>({}, {}).is_one());
}

TEMPLATE_TEST_CASE("a product of pairings is one exactly when its exponents sum to zero",
                   "[pairing]", Bn254, Bls12_381) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  using Fr = typename TestType::Fr;
  std::vector<PairingTerm<TestType>> terms;
  Fr exponent;
  for (int i = 0; i < 3; ++i) {
    const Fr a = random_element<Fr>(source);
    const Fr b = random_element<Fr>(source);
    exponent += a * b;
    terms.push_back({g1_times<TestType>(a.to_integer()), g2_times<TestType>(b.to_integer())});
    CHECK_FALSE(pairing_product_is_one<TestType>(terms));
  }
  terms.push_back({g1_times<TestType>((-exponent).to_integer()), TestType::G2::generator()});
  CHECK(pairing_product_is_one<TestType>(terms));
  terms.push_back({{}, TestType::G2::generator()});
  CHECK(pairing_product_is_one<TestType>(terms));
  terms.push_back({TestType::G1::generator(), TestType::G2::generator()});
  CHECK_FALSE(pairing_product_is_one<TestType>(terms));
  CHECK(pairing_product_is_one<TestType>({}));
}

TEMPLATE_TEST_CASE("the pairing agrees with the textbook pairing to the documented power",
                   "[pairing]", Bn254, Bls12_381) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  const auto p = random_point<typename TestType::G1>(source).to_affine();
  const auto q = random_point<typename TestType::G2>(source).to_affine();
  CHECK(pairing<TestType>(p, q) ==
        reference_pairing<TestType>(p, q).pow(to_limbs(reference_power<TestType>())));
}

TEMPLATE_TEST_CASE("the pairing agrees with known powers and coefficients", "[pairing]", Bn254,
                   Bls12_381) {
  const auto answers = known_answers<TestType>();
  using Limbs = typename TestType::Fr::Limbs;
  const auto base = generator_pairing<TestType>();
  REQUIRE(answers.at("pairing").as_array().size() > 0);
  for (const auto& entry : answers.at("pairing").as_array()) {
    const auto p = g1_times<TestType>(parse_limbs<Limbs>(entry.at("a")));
    const auto q = g2_times<TestType>(parse_limbs<Limbs>(entry.at("b")));
    CHECK(pairing<TestType>(p, q) ==
          base.pow(parse_limbs<Limbs>(entry.at("equals_generator_power"))));
  }
  const auto& expected = answers.at("pairing_generators").as_array();
  const std::array parts = {base.c0.c0, base.c0.c1, base.c0.c2, base.c1.c0, base.c1.c1, base.c1.c2};
  using Fq = typename TestType::Fq;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].c0 == parse_field<Fq>(expected.at(2 * i)));
    CHECK(parts[i].c1 == parse_field<Fq>(expected.at(2 * i + 1)));
  }
}
