// SPDX-License-Identifier: Apache-2.0
#include "kernels/ntt.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/ntt_reference.h"

namespace {

using vitrine::kernels::Bls12_381;
using vitrine::kernels::Bn254;
using vitrine::kernels::Domain;
using vitrine::kernels::reference_transform;
using vitrine::kernels::scale_by_powers;
using vitrine::kernels::ThreadPool;

template <class Fr>
std::vector<Fr> random_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Fr> values(count);
  for (Fr& value : values) {
    for (int part = 0; part < 4; ++part) {
      value = value * Fr::from_u64(std::uint64_t{1} << 63) + Fr::from_u64(random());
    }
  }
  return values;
}

TEMPLATE_TEST_CASE("roots of unity have exactly their order", "", Bn254::Fr, Bls12_381::Fr) {
  using Fr = TestType;
  Fr root = Domain<Fr>::root_of_unity(Domain<Fr>::kMaxLog2);
  for (unsigned log2_order = Domain<Fr>::kMaxLog2; log2_order > 0; --log2_order) {
    REQUIRE(root == Domain<Fr>::root_of_unity(log2_order));
    REQUIRE_FALSE(root == Fr::one());
    root = root.squared();
  }
  REQUIRE(root == Fr::one());
  REQUIRE(Domain<Fr>::root_of_unity(0) == Fr::one());
}

TEST_CASE("domains reach the powers of two that divide r - 1") {
  REQUIRE(Domain<Bn254::Fr>::kMaxLog2 == 28);
  REQUIRE(Domain<Bls12_381::Fr>::kMaxLog2 == 32);
}

TEMPLATE_TEST_CASE("the transforms equal their definition", "", Bn254::Fr, Bls12_381::Fr) {
  using Fr = TestType;
  ThreadPool pool(2);
  for (unsigned log2_size = 0; log2_size <= 8; ++log2_size) {
    const Domain<Fr> domain(log2_size, pool);
    const std::vector<Fr> coefficients = random_values<Fr>(domain.size(), log2_size);
    const Fr root = Domain<Fr>::root_of_unity(log2_size);
    const std::span<const Fr> view(coefficients);
    std::vector<Fr> values = coefficients;
    domain.forward(values, pool);
    REQUIRE(values == reference_transform(view, root, Fr::one()));
    const Fr shift = Domain<Fr>::root_of_unity(log2_size + 1);
    domain.move_to_coset(values, shift, pool);
    REQUIRE(values == reference_transform(view, root, shift));
  }
}

TEMPLATE_TEST_CASE("the inverse undoes the transform with any number of threads", "", Bn254::Fr,
                   Bls12_381::Fr) {
  using Fr = TestType;
  for (unsigned threads : {1u, 2u, 3u}) {
    ThreadPool pool(threads);
    for (unsigned log2_size = 0; log2_size <= 14; ++log2_size) {
      const Domain<Fr> domain(log2_size, pool);
      const std::vector<Fr> coefficients = random_values<Fr>(domain.size(), log2_size);
      std::vector<Fr> values = coefficients;
      domain.forward(values, pool);
      domain.inverse(values, pool);
      REQUIRE(values == coefficients);
    }
  }
}

TEMPLATE_TEST_CASE("the result does not depend on the number of threads", "", Bn254::Fr,
                   Bls12_381::Fr) {
  using Fr = TestType;
  ThreadPool one(1);
  for (unsigned log2_size : {11u, 12u, 13u, 14u, 15u}) {
    const Domain<Fr> domain(log2_size, one);
    std::vector<Fr> expected = random_values<Fr>(domain.size(), log2_size);
    const std::vector<Fr> coefficients = expected;
    domain.forward(expected, one);
    for (unsigned threads : {2u, 3u}) {
      ThreadPool pool(threads);
      std::vector<Fr> values = coefficients;
      Domain<Fr>(log2_size, pool).forward(values, pool);
      REQUIRE(values == expected);
    }
  }
}

TEMPLATE_TEST_CASE("moving to a coset is inverse, scaling and transform", "", Bn254::Fr,
                   Bls12_381::Fr) {
  using Fr = TestType;
  const Fr shift = Fr::from_u64(25);
  for (unsigned threads : {1u, 2u, 3u}) {
    ThreadPool pool(threads);
    for (unsigned log2_size = 0; log2_size <= 14; ++log2_size) {
      const Domain<Fr> domain(log2_size, pool);
      std::vector<Fr> stepwise = random_values<Fr>(domain.size(), log2_size);
      std::vector<Fr> values = stepwise;
      domain.inverse(stepwise, pool);
      scale_by_powers<Fr>(stepwise, shift, pool);
      domain.forward(stepwise, pool);
      domain.move_to_coset(values, shift, pool);
      REQUIRE(values == stepwise);
    }
  }
}

TEMPLATE_TEST_CASE("the transform is linear", "", Bn254::Fr, Bls12_381::Fr) {
  using Fr = TestType;
  ThreadPool pool(2);
  const Domain<Fr> domain(12, pool);
  std::vector<Fr> a = random_values<Fr>(domain.size(), 1);
  std::vector<Fr> b = random_values<Fr>(domain.size(), 2);
  const Fr scale = random_values<Fr>(1, 3)[0];
  std::vector<Fr> combined(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) combined[i] = a[i] * scale + b[i];
  domain.forward(a, pool);
  domain.forward(b, pool);
  domain.forward(combined, pool);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] * scale + b[i];
  REQUIRE(combined == a);
}

TEMPLATE_TEST_CASE("scaling multiplies element k by the k-th power", "", Bn254::Fr, Bls12_381::Fr) {
  using Fr = TestType;
  const Fr factor = random_values<Fr>(1, 5)[0];
  for (unsigned threads : {1u, 3u}) {
    ThreadPool pool(threads);
    std::vector<Fr> values(5000, Fr::one());
    scale_by_powers<Fr>(values, factor, pool);
    Fr power = Fr::one();
    for (const Fr& value : values) {
      REQUIRE(value == power);
      power *= factor;
    }
  }
}

}  // namespace
