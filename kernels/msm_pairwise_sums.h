// SPDX-License-Identifier: Apache-2.0
// Sums of runs of affine points, by adding neighbours in rounds that share one inversion each.
//
// Cost: 5M + 1S per addition and one inversion per round of a call; a mixed XYZZ addition is 8M +
//   2S. Worth it from about a hundred additions per round.
// Why: rounds halve every run, so no two additions of a round touch one bucket, however the
//   scalars fall: nothing waits for a conflict to pass.
// Source: Bernstein, Doumen, Lange, Oosterwijk, "Faster batch forgery identification" (2012);
//   Montgomery's simultaneous inversion (1987).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/curve_point.h"

namespace vitrine::kernels {

template <class Group>
class PairwiseSums {
 public:
  using Point = AffinePoint<Group>;
  using Coordinate = typename Group::Coordinate;

  // `points` is made of consecutive runs of lengths[i] >= 1 points. Afterwards points[i] is the sum
  // of run i and lengths[i] is 1; further points are garbage.
  void reduce(std::span<Point> points, std::span<std::uint32_t> lengths) {
    while (find_pairs(lengths)) {
      add_pairs(points, lengths, inverted_products(points));
    }
  }

 private:
  // Even and odd pairs multiply up on their own: neither has to wait for the other's product.
  using PerChain = std::array<Coordinate, 2>;

  // What the slope of the line through a and b is divided by; zero where there is no such line
  // because the sum is a, b or infinity.
  static Coordinate slope_divisor(const Point& a, const Point& b) {
    if (a.is_infinity() || b.is_infinity()) return Coordinate::zero();
    const Coordinate difference = b.x - a.x;
    if (!difference.is_zero()) return difference;
    return a.y == b.y ? a.y.doubled() : Coordinate::zero();
  }

  static Point sum_without_line(const Point& a, const Point& b) {
    if (a.is_infinity()) return b;
    if (b.is_infinity()) return a;
    return Point::infinity();
  }

  static Point sum_on_line(const Point& a, const Point& b, const Coordinate& divisor_inverse) {
    Coordinate rise = b.y - a.y;
    if (a.x == b.x) {
      const Coordinate square = a.x.squared();
      rise = square.doubled() + square;
    }
    const Coordinate slope = rise * divisor_inverse;
    const Coordinate x = slope.squared() - a.x - b.x;
    return {x, slope * (a.x - x) - a.y};
  }

  bool find_pairs(std::span<const std::uint32_t> lengths) {
    pairs_.clear();
    std::uint32_t first = 0;
    for (const std::uint32_t length : lengths) {
      for (std::uint32_t i = 0; i + 1 < length; i += 2) pairs_.push_back(first + i);
      first += length;
    }
    return !pairs_.empty();
  }

  // Leaves in products_[i] the product of the divisors of all pairs of the chain after i.
  PerChain inverted_products(std::span<const Point> points) {
    products_.resize(pairs_.size());
    PerChain product = {Coordinate::one(), Coordinate::one()};
    for (std::size_t i = pairs_.size(); i-- > 0;) {
      products_[i] = product[i % 2];
      const Coordinate divisor = slope_divisor(points[pairs_[i]], points[pairs_[i] + 1]);
      if (!divisor.is_zero()) product[i % 2] *= divisor;
    }
    const Coordinate inverse = (product[0] * product[1]).inverse();
    return {inverse * product[1], inverse * product[0]};
  }

  // In place: a sum is written no later than its terms were read, because runs only shrink.
  void add_pairs(std::span<Point> points, std::span<std::uint32_t> lengths, PerChain inverse) {
    std::size_t pair = 0;
    std::size_t in = 0;
    std::size_t out = 0;
    for (std::uint32_t& length : lengths) {
      for (std::uint32_t i = 0; i + 1 < length; i += 2, ++pair) {
        const Point a = points[in + i];
        const Point b = points[in + i + 1];
        const Coordinate divisor = slope_divisor(a, b);
        if (divisor.is_zero()) {
          points[out++] = sum_without_line(a, b);
          continue;
        }
        points[out++] = sum_on_line(a, b, inverse[pair % 2] * products_[pair]);
        inverse[pair % 2] *= divisor;
      }
      if (length % 2 == 1) points[out++] = points[in + length - 1];
      in += length;
      length = (length + 1) / 2;
    }
  }

  std::vector<std::uint32_t> pairs_;  // positions of the first of two neighbours
  std::vector<Coordinate> products_;
};

}  // namespace vitrine::kernels
