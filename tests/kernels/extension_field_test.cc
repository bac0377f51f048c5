// SPDX-License-Identifier: Apache-2.0
#include "kernels/extension_field.h"

#include <catch2/catch.hpp>
#include <vector>

#include "kernels/bls12_381.h"
#include "kernels/bn254.h"
#include "tests/kernels/big_integer.h"
#include "tests/kernels/random_elements.h"

using namespace vitrine::kernels;
using namespace vitrine::tests;

namespace {

template <class Curve>
typename Curve::Fq12 random_fq12(std::mt19937_64& source) {
  using Fq2 = typename Curve::Fq2;
  const auto next = [&] { return random_element<Fq2>(source); };
  return {{next(), next(), next()}, {next(), next(), next()}};
}

// The coefficients of w^0 .. w^5.
template <class Fq12>
std::array<typename Fq12::Fq2, 6> coefficients(const Fq12& a) {
  return {a.c0.c0, a.c1.c0, a.c0.c1, a.c1.c1, a.c0.c2, a.c1.c2};
}

// Schoolbook product of polynomials in w modulo w^6 = xi.
template <class Curve>
typename Curve::Fq12 product_of_polynomials(const typename Curve::Fq12& a,
                                            const typename Curve::Fq12& b) {
  using Fq12 = typename Curve::Fq12;
  using Fq2 = typename Curve::Fq2;
  const Fq2 xi = {Curve::Fq::from_u64(std::is_same_v<Curve, Bn254> ? 9 : 1), Curve::Fq::one()};
  const auto a_coefficients = coefficients(a);
  const auto b_coefficients = coefficients(b);
  std::array<Fq2, 6> sum{};
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) {
      const Fq2 product = a_coefficients[i] * b_coefficients[j];
      sum[(i + j) % 6] += i + j < 6 ? product : product * xi;
    }
  }
  return Fq12{{sum[0], sum[2], sum[4]}, {sum[1], sum[3], sum[5]}};
}

}  // namespace

TEMPLATE_TEST_CASE("Fq2 multiplies like complex numbers", "[extension_field]", Bn254::Fq2,
                   Bls12_381::Fq2) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  using Base = typename TestType::BaseField;
  const std::vector<Base> edges = {Base::zero(), Base::one(), -Base::one(),
                                   random_element<Base>(source), random_element<Base>(source)};
  std::vector<TestType> values;
  for (const Base& c0 : edges) {
    for (const Base& c1 : edges) values.push_back({c0, c1});
  }
  for (const TestType& a : values) {
    CHECK(a.squared() == a * a);
    CHECK(a.doubled() == a + a);
    CHECK((a + (-a)).is_zero());
    CHECK(a * a.inverse() == (a.is_zero() ? TestType::zero() : TestType::one()));
    CHECK(a.conjugated() == a.pow(Base::modulus()));
    for (const TestType& b : values) {
      CHECK(a * b == TestType{a.c0 * b.c0 - a.c1 * b.c1, a.c0 * b.c1 + a.c1 * b.c0});
      CHECK((a - b) + b == a);
    }
  }
}

TEMPLATE_TEST_CASE("Fq12 multiplies like polynomials in w", "[extension_field]", Bn254, Bls12_381) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  using Fq12 = typename TestType::Fq12;
  for (int i = 0; i < 20; ++i) {
    const Fq12 a = random_fq12<TestType>(source);
    const Fq12 b = random_fq12<TestType>(source);
    CHECK(a * b == product_of_polynomials<TestType>(a, b));
    CHECK(a.squared() == product_of_polynomials<TestType>(a, a));
    CHECK(a * a.inverse() == Fq12::one());
    CHECK(a.c0.squared() == a.c0 * a.c0);
    CHECK(a.c0 * a.c0.inverse() == Fq12::Fq6::one());
    const typename Fq12::Fq6 sparse = {b.c0.c0, b.c0.c1, {}};
    CHECK(a.c0.multiplied_by_01(b.c0.c0, b.c0.c1) == a.c0 * sparse);
  }
}

TEMPLATE_TEST_CASE("Frobenius is the p-th power and conjugation the p^6-th", "[extension_field]",
                   Bn254, Bls12_381) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  const auto a = random_fq12<TestType>(source);
  CHECK(a.frobenius() == a.pow(TestType::Fq::modulus()));
  auto power = a;
  for (int i = 0; i < 6; ++i) power = power.frobenius();
  CHECK(power == a.conjugated());
}

TEMPLATE_TEST_CASE("cyclotomic squaring agrees with squaring in the cyclotomic subgroup",
                   "[extension_field]", Bn254, Bls12_381) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  for (int i = 0; i < 10; ++i) {
    const auto a = random_fq12<TestType>(source);
    const auto unitary = a.conjugated() * a.inverse();
    const auto cyclotomic = unitary.frobenius().frobenius() * unitary;
    CHECK(cyclotomic.cyclotomic_squared() == cyclotomic.squared());
    CHECK(cyclotomic * cyclotomic.conjugated() == TestType::Fq12::one());
  }
}
