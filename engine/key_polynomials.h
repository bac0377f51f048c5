// SPDX-License-Identifier: Apache-2.0
// A circuit's polynomials at one secret point tau: what the points of a key are multiples of.
//
// Source: Gennaro, Gentry, Parno, Raykova, "Quadratic span programs and succinct NIZKs without
// PCPs", 2013 (quadratic arithmetic programs).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/r1cs.h"
#include "kernels/ntt.h"
#include "kernels/thread_pool.h"

namespace vitrine::engine {

// For each signal its polynomial of A, B and C at tau.
template <class Fr>
struct SignalValues {
  std::vector<Fr> a, b, c;
};

// All Lagrange polynomials of the domain first * w^i, i < 2^log2_size, at tau, w of order
// 2^log2_size; `first` has order 2^(log2_size + 1) or 1. Times `factor`.
template <class Fr>
struct LagrangeBasis {
  unsigned log2_size;
  Fr first, tau, factor;

  // L_i(tau) = x_i (tau^N - first^N) / (N first^N (tau - x_i)) with x_i = first w^i.
  [[nodiscard]] std::vector<Fr> values(kernels::ThreadPool& threads) const {
    const std::size_t size = std::size_t{1} << log2_size;
    const std::array<std::uint64_t, 1> exponent = {size};
    const Fr first_power = first.pow(exponent);
    const Fr numerator =
        factor * (tau.pow(exponent) - first_power) * (Fr::from_u64(size) * first_power).inverse();
    const Fr root = kernels::Domain<Fr>::root_of_unity(log2_size);
    std::vector<Fr> result(size);
    threads.parallel_for(size, kMinElements, [&](std::size_t begin, std::size_t end) {
      const Fr start = first * root.pow(std::array<std::uint64_t, 1>{begin});
      fill(std::span(result).subspan(begin, end - begin), {start, root, numerator});
    });
    return result;
  }

 private:
  static constexpr std::size_t kMinElements = 1024;

  struct Range {
    Fr start, root, numerator;
  };

  // values[i] = numerator x / (tau - x), x = start root^i, with one inversion.
  void fill(std::span<Fr> values, const Range& range) const {
    std::vector<Fr> products_before(values.size());
    Fr product = Fr::one();
    Fr x = range.start;
    for (std::size_t i = 0; i < values.size(); ++i, x *= range.root) {
      products_before[i] = product;
      values[i] = tau - x;
      product *= values[i];
    }
    Fr inverse = product.inverse();
    const Fr root_inverse = range.root.inverse();
    for (std::size_t i = values.size(); i-- > 0;) {
      x *= root_inverse;
      const Fr denominator = values[i];
      values[i] = range.numerator * x * inverse * products_before[i];
      inverse *= denominator;
    }
  }
};

// `rows` are the domain's Lagrange polynomials at tau. The rows after the constraints hold the
// public signals, in A.
template <class Fr>
[[nodiscard]] SignalValues<Fr> evaluate_signals(const R1csShape& shape,
                                                const R1csMatrices<Fr>& matrices,
                                                std::span<const Fr> rows) {
  const auto evaluate = [&](const ConstraintMatrix<Fr>& matrix) {
    std::vector<Fr> sums(shape.variables);
    for (std::uint32_t row = 0; row < shape.constraints; ++row) {
      for (std::uint32_t i = matrix.row_begin[row]; i < matrix.row_begin[row + 1]; ++i) {
        sums[matrix.signals[i]] += matrix.values[i] * rows[row];
      }
    }
    return sums;
  };
  SignalValues<Fr> values{evaluate(matrices.a), evaluate(matrices.b), evaluate(matrices.c)};
  for (std::uint32_t signal = 0; signal <= shape.public_signals(); ++signal) {
    values.a[signal] += rows[shape.constraints + signal];
  }
  return values;
}

}  // namespace vitrine::engine
