// SPDX-License-Identifier: Apache-2.0
// Many multiples of one point, by a table of its window multiples.
//
// Layout: table[w][d - 1] = d 2^(w width) P for the digits d = 1 to 2^width - 1 of window w.
// Threads: immutable once built; building and multiplying use the pool given.
// Cost: one mixed addition per window and scalar.
// Source: Brickell, Gordon, McCurley, Wilson, "Fast exponentiation with precomputation", 1992.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/large_vector.h"
#include "kernels/curve_point.h"
#include "kernels/thread_pool.h"

namespace vitrine::engine {

template <class Group>
class FixedBase {
 public:
  using Affine = kernels::AffinePoint<Group>;
  using Xyzz = kernels::XyzzPoint<Group>;
  using Scalar = typename Group::Scalar;

  // `expected_scalars` decides how large a table pays.
  FixedBase(const Affine& point, std::size_t expected_scalars, kernels::ThreadPool& threads)
      : width_(best_width(expected_scalars)), windows_((kScalarBits + width_ - 1) / width_) {
    std::vector<Xyzz> firsts = {Xyzz::from_affine(point)};
    while (firsts.size() < windows_) {
      Xyzz next = firsts.back();
      for (unsigned i = 0; i < width_; ++i) next = next.doubled();
      firsts.push_back(next);
    }
    table_.resize(windows_ * digits());
    threads.parallel_for(windows_, 1, [&](std::size_t begin, std::size_t end) {
      for (; begin < end; ++begin) fill_window(begin, firsts[begin].to_affine());
    });
  }

  [[nodiscard]] LargeVector<Affine> multiples(std::span<const Scalar> scalars,
                                              kernels::ThreadPool& threads) const {
    LargeVector<Affine> points(scalars.size());
    threads.parallel_for(scalars.size(), kChunk, [&](std::size_t begin, std::size_t end) {
      for (; begin < end; begin += kChunk) {
        const std::size_t count = std::min(kChunk, end - begin);
        std::vector<Xyzz> sums(count);
        for (std::size_t i = 0; i < count; ++i) sums[i] = multiple(scalars[begin + i]);
        kernels::batch_to_affine<Group>(sums, std::span(points).subspan(begin, count));
      }
    });
    return points;
  }

  [[nodiscard]] Xyzz multiple(const Scalar& scalar) const {
    const typename Scalar::Limbs integer = scalar.to_integer();
    Xyzz sum = Xyzz::infinity();
    for (std::size_t window = 0; window < windows_; ++window) {
      const std::size_t digit = digit_of(integer, window);
      if (digit != 0) sum.add(table_[window * digits() + digit - 1]);
    }
    return sum;
  }

 private:
  static constexpr unsigned kScalarBits = 64 * Scalar::kLimbs;
  static constexpr std::size_t kChunk = 512;

  // The least number of additions, the table's included.
  static unsigned best_width(std::size_t scalars) {
    const auto additions = [&](unsigned width) {
      const std::size_t windows = (kScalarBits + width - 1) / width;
      return windows * (scalars + (std::size_t{1} << width));
    };
    unsigned best = 4;
    for (unsigned width = best; width <= 14; ++width) {
      if (additions(width) < additions(best)) best = width;
    }
    return best;
  }

  [[nodiscard]] std::size_t digits() const { return (std::size_t{1} << width_) - 1; }

  [[nodiscard]] std::size_t digit_of(const typename Scalar::Limbs& integer,
                                     std::size_t window) const {
    const std::size_t bit = window * width_;
    std::uint64_t digit = integer[bit / 64] >> (bit % 64);
    if (bit % 64 + width_ > 64 && bit / 64 + 1 < integer.size()) {
      digit |= integer[bit / 64 + 1] << (64 - bit % 64);
    }
    return digit & digits();
  }

  void fill_window(std::size_t window, const Affine& first) {
    std::vector<Xyzz> multiples(digits());
    multiples[0] = Xyzz::from_affine(first);
    for (std::size_t i = 1; i < multiples.size(); ++i) {
      multiples[i] = multiples[i - 1];
      multiples[i].add(first);
    }
    kernels::batch_to_affine<Group>(multiples,
                                    std::span(table_).subspan(window * digits(), digits()));
  }

  unsigned width_;
  std::size_t windows_;
  std::vector<Affine> table_;
};

}  // namespace vitrine::engine
