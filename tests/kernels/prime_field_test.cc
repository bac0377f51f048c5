// SPDX-License-Identifier: Apache-2.0
#include "kernels/prime_field.h"

#include <catch2/catch.hpp>
#include <vector>

#include "kernels/bls12_381.h"
#include "kernels/bn254.h"
#include "kernels/kernel_path.h"
#include "tests/kernels/big_integer.h"
#include "tests/kernels/known_answers.h"
#include "tests/kernels/random_elements.h"

using namespace vitrine::kernels;
using namespace vitrine::tests;

namespace {

// 0, 1, 2, p - 1, p - 2, (p - 1) / 2, R mod p, single limbs full of ones, and random elements.
template <class Field>
std::vector<Field> samples(std::mt19937_64& source) {
  std::vector<Field> values = {Field::zero(),
                               Field::one(),
                               Field::from_u64(2),
                               -Field::one(),
                               -Field::from_u64(2),
                               -Field::from_u64(2).inverse(),
                               Field::from_montgomery({1})};
  for (std::size_t limb = 0; limb + 1 < Field::kLimbs; ++limb) {
    typename Field::Limbs ones{};
    ones[limb] = ~std::uint64_t{0};
    values.push_back(Field::from_integer(ones));
    values.push_back(Field::from_montgomery(ones));
  }
  for (int i = 0; i < 24; ++i) values.push_back(random_element<Field>(source));
  return values;
}

template <class Field>
BigInteger big(const Field& element) {
  return to_big(element.to_integer());
}

}  // namespace

#define VITRINE_FIELDS Bn254::Fq, Bn254::Fr, Bls12_381::Fq, Bls12_381::Fr

TEMPLATE_TEST_CASE("a prime field agrees with big-integer arithmetic modulo p", "[prime_field]",
                   VITRINE_FIELDS) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  const BigInteger p = to_big(TestType::modulus());
  const auto values = samples<TestType>(source);
  for (const TestType& a : values) {
    CHECK(big(-a) == (p - big(a)) % p);
    CHECK(big(a.doubled()) == 2 * big(a) % p);
    CHECK(big(a.squared()) == big(a) * big(a) % p);
    for (const TestType& b : values) {
      CHECK(big(a * b) == big(a) * big(b) % p);
      CHECK(big(a + b) == (big(a) + big(b)) % p);
      CHECK(big(a - b) == (big(a) + p - big(b)) % p);
    }
  }
}

TEMPLATE_TEST_CASE("the operators of this machine agree with the portable ones", "[prime_field]",
                   VITRINE_FIELDS) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed << ", path " << kernel_path_name());
  std::mt19937_64 source(seed);
  const auto values = samples<TestType>(source);
  for (const TestType& a : values) {
    for (const TestType& b : values) {
      CHECK(a * b == TestType::multiply_portable(a, b));
      CHECK(a + b == TestType::add_portable(a, b));
      CHECK(a - b == TestType::subtract_portable(a, b));
    }
  }
}

TEMPLATE_TEST_CASE("a prime field keeps the field laws", "[prime_field]", VITRINE_FIELDS) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  for (int i = 0; i < 200; ++i) {
    const auto a = random_element<TestType>(source);
    const auto b = random_element<TestType>(source);
    const auto c = random_element<TestType>(source);
    CHECK(a + b == b + a);
    CHECK(a * b == b * a);
    CHECK((a + b) + c == a + (b + c));
    CHECK((a * b) * c == a * (b * c));
    CHECK(a * (b + c) == a * b + a * c);
    CHECK(a - b == a + (-b));
    CHECK(a + TestType::zero() == a);
    CHECK(a * TestType::one() == a);
    CHECK((a - a).is_zero());
  }
}

TEMPLATE_TEST_CASE("every element but zero times its inverse is one", "[prime_field]",
                   VITRINE_FIELDS) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  CHECK(TestType::zero().inverse().is_zero());
  for (const TestType& a : samples<TestType>(source)) {
    if (!a.is_zero()) CHECK(a * a.inverse() == TestType::one());
  }
}

TEMPLATE_TEST_CASE("Montgomery form is R times the integer and comes back unchanged",
                   "[prime_field]", VITRINE_FIELDS) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  const BigInteger p = to_big(TestType::modulus());
  for (int i = 0; i < 100; ++i) {
    const auto integer = random_integer<TestType>(source);
    const auto element = TestType::from_integer(integer);
    CHECK(element.to_integer() == integer);
    CHECK(to_big(element.montgomery()) == (to_big(integer) << (64 * TestType::kLimbs)) % p);
    CHECK(TestType::from_montgomery(element.montgomery()) == element);
  }
  CHECK(TestType::from_u64(7).to_integer() == typename TestType::Limbs{7});
}

TEMPLATE_TEST_CASE("canonical means below the modulus", "[prime_field]", VITRINE_FIELDS) {
  auto limbs = TestType::modulus();
  CHECK_FALSE(TestType::is_canonical(limbs));
  limbs[0] -= 1;
  CHECK(TestType::is_canonical(limbs));
  CHECK(TestType::from_integer(limbs) == -TestType::one());
  limbs[0] += 2;
  CHECK_FALSE(TestType::is_canonical(limbs));
  limbs.fill(~std::uint64_t{0});
  CHECK_FALSE(TestType::is_canonical(limbs));
  CHECK(TestType::is_canonical({}));
}

TEMPLATE_TEST_CASE("a power is a repeated product", "[prime_field]", VITRINE_FIELDS) {
  const TestType base = TestType::from_u64(5);
  TestType product = TestType::one();
  for (std::uint64_t exponent = 0; exponent < 70; ++exponent) {
    const std::vector<std::uint64_t> limbs = {exponent, 0};
    CHECK(base.pow(limbs) == product);
    product *= base;
  }
  CHECK(TestType::zero().pow(std::vector<std::uint64_t>{}) == TestType::one());
  CHECK(base.pow(TestType::modulus()) == base);
}

TEMPLATE_TEST_CASE("the moduli are those their curve families define", "[prime_field]", Bn254,
                   Bls12_381) {
  const BigInteger p = to_big(TestType::Fq::modulus());
  const BigInteger r = to_big(TestType::Fr::modulus());
  if constexpr (std::is_same_v<TestType, Bn254>) {
    const BigInteger x = 4965661367192848881;
    CHECK(p == 36 * x * x * x * x + 36 * x * x * x + 24 * x * x + 6 * x + 1);
    CHECK(r == 36 * x * x * x * x + 36 * x * x * x + 18 * x * x + 6 * x + 1);
  } else {
    const BigInteger x = -BigInteger(0xd201000000010000);
    CHECK(r == x * x * x * x - x * x + 1);
    CHECK(p == (x - 1) * (x - 1) * r / 3 + x);
  }
}

TEMPLATE_TEST_CASE("a prime field agrees with known products and inverses", "[prime_field]", Bn254,
                   Bls12_381) {
  const auto answers = known_answers<TestType>();
  const auto check = [&]<class Field>(const char* key, Field) {
    REQUIRE(answers.at(key).as_array().size() > 0);
    for (const auto& entry : answers.at(key).as_array()) {
      const auto a = parse_field<Field>(entry.at("a"));
      CHECK(a * parse_field<Field>(entry.at("b")) == parse_field<Field>(entry.at("product")));
      CHECK(a.inverse() == parse_field<Field>(entry.at("inverse_a")));
    }
  };
  check("fq_products", typename TestType::Fq());
  check("fr_products", typename TestType::Fr());
}
