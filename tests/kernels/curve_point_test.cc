// SPDX-License-Identifier: Apache-2.0
#include "kernels/curve_point.h"

#include <catch2/catch.hpp>
#include <vector>

#include "kernels/bls12_381.h"
#include "kernels/bn254.h"
#include "kernels/subgroup.h"
#include "tests/kernels/known_answers.h"
#include "tests/kernels/random_elements.h"

using namespace vitrine::kernels;
using namespace vitrine::tests;

namespace {

// Textbook addition with slopes, the definition of the group.
template <class Group>
AffinePoint<Group> add_affine(const AffinePoint<Group>& p, const AffinePoint<Group>& q) {
  using Coordinate = typename Group::Coordinate;
  if (p.is_infinity()) return q;
  if (q.is_infinity()) return p;
  if (p.x == q.x && p.y == -q.y) return AffinePoint<Group>::infinity();
  const Coordinate xx = p.x * p.x;
  const Coordinate slope =
      p == q ? (xx + xx + xx) * (p.y + p.y).inverse() : (q.y - p.y) * (q.x - p.x).inverse();
  const Coordinate x = slope * slope - p.x - q.x;
  return {x, slope * (p.x - x) - p.y};
}

template <class Group>
XyzzPoint<Group> sum(XyzzPoint<Group> p, const XyzzPoint<Group>& q) {
  p.add(q);
  return p;
}

// The same point with another ZZ and ZZZ.
template <class Group>
XyzzPoint<Group> rescaled(const XyzzPoint<Group>& p, std::mt19937_64& source) {
  const auto z = random_element<typename Group::Coordinate>(source);
  return {p.x * z.squared(), p.y * z.squared() * z, p.zz * z.squared(), p.zzz * z.squared() * z};
}

// A point of E(Fq2) or E(Fq) by search over x; almost surely outside the subgroup if there is a
// cofactor.
template <class Group>
AffinePoint<Group> some_curve_point();

template <>
AffinePoint<Bls12_381::G1> some_curve_point() {
  using Fq = Bls12_381::Fq;
  auto exponent = Fq::modulus();  // sqrt is the (p + 1) / 4-th power as p = 3 mod 4
  exponent[0] += 1;
  exponent = divide_limbs(exponent, 4);
  for (std::uint64_t x = 1;; ++x) {
    const Fq square = Fq::from_u64(x * x * x) + Bls12_381::G1::b();
    const Fq y = square.pow(exponent);
    if (y.squared() == square) return {Fq::from_u64(x), y};
  }
}

}  // namespace

#define VITRINE_GROUPS Bn254::G1, Bn254::G2, Bls12_381::G1, Bls12_381::G2

TEMPLATE_TEST_CASE("XYZZ addition agrees with textbook addition", "[curve_point]", VITRINE_GROUPS) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  using Point = XyzzPoint<TestType>;
  const Point p = random_point<TestType>(source);
  const std::vector<Point> points = {Point::infinity(),
                                     p,
                                     p.negated(),
                                     p.doubled(),
                                     Point::from_affine(TestType::generator()),
                                     random_point<TestType>(source)};
  for (const Point& left : points) {
    const Point a = rescaled(left, source);
    CHECK(a == left);
    CHECK(a.doubled().to_affine() == add_affine(a.to_affine(), a.to_affine()));
    for (const Point& b : points) {
      const auto expected = add_affine(a.to_affine(), b.to_affine());
      CHECK(sum(a, b).to_affine() == expected);
      Point mixed = a;
      mixed.add(b.to_affine());
      CHECK(mixed.to_affine() == expected);
      CHECK(is_on_curve(expected));
    }
  }
}

TEMPLATE_TEST_CASE("points form a commutative group", "[curve_point]", VITRINE_GROUPS) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  using Point = XyzzPoint<TestType>;
  for (int i = 0; i < 5; ++i) {
    const Point a = random_point<TestType>(source);
    const Point b = random_point<TestType>(source);
    const Point c = random_point<TestType>(source);
    CHECK(sum(a, b) == sum(b, a));
    CHECK(sum(sum(a, b), c) == sum(a, sum(b, c)));
    CHECK(sum(a, a) == a.doubled());
    CHECK(sum(a, a.negated()).is_infinity());
    CHECK(sum(a, Point::infinity()) == a);
    CHECK_FALSE(a == a.negated());
    CHECK_FALSE(a == Point::infinity());
  }
}

TEMPLATE_TEST_CASE("a scalar multiple is a repeated sum and r gives infinity", "[curve_point]",
                   VITRINE_GROUPS) {
  const auto generator = TestType::generator();
  auto expected = AffinePoint<TestType>::infinity();
  for (std::uint64_t k = 0; k < 20; ++k) {
    CHECK(multiply(generator, {k}).to_affine() == expected);
    expected = add_affine(expected, generator);
  }
  CHECK(multiply(generator, TestType::Scalar::modulus()).is_infinity());
  CHECK(multiply(AffinePoint<TestType>::infinity(), {5}).is_infinity());
}

TEMPLATE_TEST_CASE("affine forms of a batch agree with those of its points", "[curve_point]",
                   VITRINE_GROUPS) {
  const std::uint64_t seed = test_seed();
  INFO("seed " << seed);
  std::mt19937_64 source(seed);
  using Point = XyzzPoint<TestType>;
  std::vector<Point> points = {Point::infinity()};
  for (int i = 0; i < 5; ++i) points.push_back(random_point<TestType>(source));
  points.push_back(Point::infinity());
  points.push_back(points[1].doubled());
  std::vector<AffinePoint<TestType>> affine(points.size());
  batch_to_affine<TestType>(points, affine);
  for (std::size_t i = 0; i < points.size(); ++i) CHECK(affine[i] == points[i].to_affine());
  batch_to_affine<TestType>({}, {});
}

TEMPLATE_TEST_CASE("generators are on their curve and in the subgroup", "[curve_point]",
                   VITRINE_GROUPS) {
  CHECK(is_on_curve(TestType::generator()));
  CHECK(is_in_subgroup(TestType::generator()));
  CHECK(is_on_curve(AffinePoint<TestType>::infinity()));
  CHECK(is_in_subgroup(AffinePoint<TestType>::infinity()));
}

TEMPLATE_TEST_CASE("a point with one coordinate changed is off the curve", "[curve_point]",
                   VITRINE_GROUPS) {
  using Coordinate = typename TestType::Coordinate;
  auto point = TestType::generator();
  point.x += Coordinate::one();
  CHECK_FALSE(is_on_curve(point));
  point = TestType::generator();
  point.y += Coordinate::one();
  CHECK_FALSE(is_on_curve(point));
  CHECK_FALSE(is_on_curve(AffinePoint<TestType>{Coordinate::zero(), Coordinate::one()}));
}

TEST_CASE("a curve point outside the subgroup is recognised", "[curve_point]") {
  const auto point = some_curve_point<Bls12_381::G1>();
  CHECK(is_on_curve(point));
  CHECK_FALSE(is_in_subgroup(point));
}

TEMPLATE_TEST_CASE("multiples of the generators agree with known answers", "[curve_point]", Bn254,
                   Bls12_381) {
  const auto answers = known_answers<TestType>();
  const auto check = [&]<class Group>(const char* key, Group) {
    REQUIRE(answers.at(key).as_array().size() > 0);
    for (const auto& entry : answers.at(key).as_array()) {
      const auto scalar = parse_limbs<typename Group::Scalar::Limbs>(entry.at("scalar"));
      CHECK(multiply(Group::generator(), scalar).to_affine() ==
            parse_point<Group>(entry.at("x"), entry.at("y")));
    }
  };
  check("g1_multiples", typename TestType::G1());
  check("g2_multiples", typename TestType::G2());
}
