// SPDX-License-Identifier: Apache-2.0
#include "kernels/msm.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "kernels/msm_digits.h"
#include "kernels/msm_reference.h"
#include "kernels/msm_run_sums.h"

namespace {

using vitrine::kernels::AffinePoint;
using vitrine::kernels::Bls12_381;
using vitrine::kernels::Bn254;
using vitrine::kernels::LimbArray;
using vitrine::kernels::msm;
using vitrine::kernels::reference_msm;
using vitrine::kernels::ThreadPool;
using vitrine::kernels::XyzzPoint;

using Limbs = LimbArray<4>;

// Points and scalars of one multiplication.
template <class Group>
struct Terms {
  std::vector<AffinePoint<Group>> points;
  std::vector<Limbs> integers;
};

template <class Group>
bool is_same(const Terms<Group>& terms, unsigned threads, const XyzzPoint<Group>& expected) {
  ThreadPool pool(threads);
  return msm<Group>(terms.points, terms.integers, pool) == expected;
}

template <class Group>
void require_reference(const Terms<Group>& terms) {
  const XyzzPoint<Group> expected = reference_msm<Group>(terms.points, terms.integers);
  for (unsigned threads : {1u, 2u, 3u}) REQUIRE(is_same(terms, threads, expected));
}

// 1 G, 2 G, 3 G, ... starting at `first`.
template <class Group>
std::vector<AffinePoint<Group>> multiples(std::size_t count, std::uint64_t first) {
  std::vector<XyzzPoint<Group>> sums(count);
  XyzzPoint<Group> sum = multiply(Group::generator(), Limbs{first});
  for (XyzzPoint<Group>& next : sums) {
    next = sum;
    sum.add(Group::generator());
  }
  std::vector<AffinePoint<Group>> points(count);
  batch_to_affine<Group>(sums, points);
  return points;
}

template <class Group>
Limbs largest_scalar() {
  Limbs integer = Group::Scalar::modulus();
  --integer[0];
  return integer;
}

template <class Group>
std::vector<Limbs> random_integers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Limbs> integers(count);
  for (Limbs& integer : integers) {
    do {
      for (std::uint64_t& limb : integer) limb = random();
    } while (!Group::Scalar::is_canonical(integer));
  }
  return integers;
}

// The expected result for points first G, (first + 1) G, ... by arithmetic on scalars alone.
template <class Group>
XyzzPoint<Group> expected_for_multiples(const std::vector<Limbs>& integers, std::uint64_t first) {
  using Scalar = typename Group::Scalar;
  Scalar sum;
  for (std::size_t i = 0; i < integers.size(); ++i) {
    sum += Scalar::from_integer(integers[i]) * Scalar::from_u64(first + i);
  }
  return multiply(Group::generator(), sum.to_integer());
}

#define EVERY_GROUP Bn254::G1, Bn254::G2, Bls12_381::G1, Bls12_381::G2

TEMPLATE_TEST_CASE("a multiplication equals double and add", "", EVERY_GROUP) {
  using Group = TestType;
  for (std::size_t count : {0u, 1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 31u, 32u, 33u}) {
    require_reference<Group>({multiples<Group>(count, 5), random_integers<Group>(count, count)});
  }
}

TEMPLATE_TEST_CASE("scalars 0, 1 and r - 1 mix with dense ones", "", EVERY_GROUP) {
  using Group = TestType;
  const Limbs last = largest_scalar<Group>();
  for (std::size_t count : {1u, 2u, 3u, 40u}) {
    const auto points = multiples<Group>(count, 1);
    const std::vector<Limbs> dense = random_integers<Group>(count, 7);
    for (const Limbs& special : {Limbs{0}, Limbs{1}, Limbs{2}, Limbs{1u << 15}, last}) {
      require_reference<Group>({points, std::vector<Limbs>(count, special)});
    }
    std::vector<Limbs> mixed;
    for (std::size_t i = 0; i < count; ++i) {
      mixed.push_back(i % 5 == 4 ? dense[i] : i % 7 == 3 ? last : Limbs{i % 2});
    }
    require_reference<Group>({points, mixed});
  }
}

TEMPLATE_TEST_CASE("equal, opposite and infinite points are summed right", "", EVERY_GROUP) {
  using Group = TestType;
  constexpr std::size_t kCount = 40;
  const AffinePoint<Group> point = multiples<Group>(1, 9)[0];
  const std::vector<Limbs> dense = random_integers<Group>(kCount, 11);
  const std::vector<Limbs> equal(kCount, dense[0]);
  const std::vector<Limbs> ones(kCount, Limbs{1});
  std::vector<AffinePoint<Group>> opposite(kCount, point);
  for (std::size_t i = 1; i < kCount; i += 2) opposite[i] = point.negated();
  std::vector<AffinePoint<Group>> gaps = multiples<Group>(kCount, 3);
  for (std::size_t i = 0; i < kCount; i += 3) gaps[i] = AffinePoint<Group>::infinity();
  for (const auto& integers : {dense, equal, ones}) {
    require_reference<Group>({std::vector(kCount, point), integers});
    require_reference<Group>({opposite, integers});
    require_reference<Group>({gaps, integers});
    require_reference<Group>({std::vector(kCount, AffinePoint<Group>::infinity()), integers});
  }
}

// Sizes at which blocks, windows and their borders change.
TEMPLATE_TEST_CASE("sizes around powers of two and block borders are right", "", Bn254::G1,
                   Bls12_381::G1) {
  using Group = TestType;
  constexpr std::uint64_t kFirst = 3;
  constexpr std::size_t kBlock = vitrine::kernels::RunSums<Group>::kBlockLength;
  const auto points = multiples<Group>(2 * kBlock + 1, kFirst);
  const std::vector<Limbs> integers = random_integers<Group>(points.size(), 13);
  for (std::size_t count : {std::size_t{255}, std::size_t{256}, std::size_t{257}, kBlock - 1,
                            kBlock, kBlock + 1, 2 * kBlock, 2 * kBlock + 1}) {
    const std::vector<Limbs> used(integers.begin(), integers.begin() + count);
    const Terms<Group> terms = {{points.begin(), points.begin() + count}, used};
    REQUIRE(is_same(terms, 2, expected_for_multiples<Group>(used, kFirst)));
  }
}

TEMPLATE_TEST_CASE("heavy buckets and runs of ones cross blocks", "", EVERY_GROUP) {
  using Group = TestType;
  constexpr std::uint64_t kFirst = 2;
  constexpr std::size_t kCount = 9000;
  const auto points = multiples<Group>(kCount, kFirst);
  const std::vector<Limbs> dense = random_integers<Group>(kCount, 17);
  std::vector<Limbs> bits(kCount);
  for (std::size_t i = 0; i < kCount; ++i) bits[i] = i % 100 == 0 ? dense[i] : Limbs{i % 7 != 0};
  const std::vector<Limbs> equal(kCount, largest_scalar<Group>());
  for (const auto& integers : {bits, equal}) {
    const XyzzPoint<Group> expected = expected_for_multiples<Group>(integers, kFirst);
    for (unsigned threads : {1u, 3u}) REQUIRE(is_same({points, integers}, threads, expected));
  }
}

TEMPLATE_TEST_CASE("many equal and opposite points in shared buckets are right", "", Bn254::G1,
                   Bls12_381::G2) {
  using Group = TestType;
  using Scalar = typename Group::Scalar;
  constexpr std::size_t kCount = 5000;
  const AffinePoint<Group> point = Group::generator();
  const std::vector<Limbs> integers = random_integers<Group>(kCount, 19);
  std::vector<AffinePoint<Group>> points(kCount, point);
  Scalar sum;
  for (std::size_t i = 0; i < kCount; ++i) {
    const Scalar scalar = Scalar::from_integer(integers[i]);
    if (i % 3 == 0) points[i] = point.negated();
    sum += i % 3 == 0 ? -scalar : scalar;
  }
  REQUIRE(is_same({points, integers}, 2, multiply(point, sum.to_integer())));
}

TEST_CASE("signed digits add up to their scalar at every width") {
  using Fr = Bls12_381::Fr;
  std::vector<Limbs> integers = random_integers<Bls12_381::G1>(20, 23);
  integers.push_back({0});
  integers.push_back({1});
  integers.push_back(largest_scalar<Bls12_381::G1>());
  for (unsigned width = 1; width <= 20; ++width) {
    const std::int32_t limit = 1 << (width - 1);
    const Fr radix = Fr::from_u64(std::uint64_t{1} << width);
    for (const Limbs& integer : integers) {
      Fr sum;
      for (unsigned window = 256 / width + 1; window-- > 0;) {
        const std::int32_t digit = vitrine::kernels::signed_digit(integer, window, width);
        REQUIRE(std::abs(digit) <= limit);
        const Fr magnitude = Fr::from_u64(static_cast<std::uint64_t>(std::abs(digit)));
        sum = sum * radix + (digit < 0 ? -magnitude : magnitude);
      }
      REQUIRE(sum == Fr::from_integer(integer));
    }
  }
}

TEST_CASE("windows cover every scalar and grow with the number of terms") {
  unsigned last_width = 0;
  for (std::size_t terms = 1; terms <= std::size_t{1} << 28; terms *= 2) {
    const auto plan = vitrine::kernels::choose_windows(terms, 254);
    REQUIRE(plan.width * plan.windows >= 255);
    REQUIRE(plan.width * (plan.windows - 1) <= 254);
    REQUIRE(plan.width >= last_width);
    last_width = plan.width;
  }
}

}  // namespace
