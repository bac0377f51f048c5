// SPDX-License-Identifier: Apache-2.0
// Layout of one multiplication:
//   terms -> zeros dropped | ones: one run | others: windows
//   window -> references sorted by digit -> bucket sums -> rows and columns -> weighted sum
#include "kernels/msm.h"

#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "kernels/msm_digits.h"
#include "kernels/msm_run_sums.h"

namespace vitrine::kernels {
namespace {

// Indices of the terms that need work.
struct Terms {
  PointRuns ones;                     // a single run
  std::vector<std::uint32_t> others;  // neither 0 nor 1
  std::size_t scalar_bits = 0;        // of the longest of the others
};

template <class Group>
Terms sort_out_terms(std::span<const AffinePoint<Group>> points,
                     std::span<const typename Group::Scalar::Limbs> integers) {
  using Limbs = typename Group::Scalar::Limbs;
  Terms terms;
  Limbs used_bits{};
  for (std::size_t i = 0; i < integers.size(); ++i) {
    if (integers[i] == Limbs{} || points[i].is_infinity()) continue;
    const auto index = static_cast<std::uint32_t>(i);
    if (integers[i] == Limbs{1}) {
      terms.ones.references.push_back(index);
      continue;
    }
    terms.others.push_back(index);
    for (std::size_t limb = 0; limb < used_bits.size(); ++limb) {
      used_bits[limb] |= integers[i][limb];
    }
  }
  terms.ones.starts = {0, static_cast<std::uint32_t>(terms.ones.references.size())};
  terms.scalar_bits = bit_length(used_bits);
  return terms;
}

template <class Group>
class Windows {
 public:
  using Limbs = typename Group::Scalar::Limbs;

  Windows(std::span<const AffinePoint<Group>> points, std::span<const Limbs> integers,
          std::span<const std::uint32_t> terms, WindowPlan plan)
      : points_(points), integers_(integers), terms_(terms), plan_(plan) {}

  // The sum of digit * point over all terms.
  XyzzPoint<Group> window_sum(unsigned window, RunSums<Group>& run_sums) const {
    const std::vector<AffinePoint<Group>> buckets = run_sums.sum(points_, sorted_by_digit(window));
    return weighted_sum(buckets, run_sums);
  }

 private:
  // Run d - 1 has the terms with digit d or -d, by a counting sort.
  PointRuns sorted_by_digit(unsigned window) const {
    const std::size_t buckets = std::size_t{1} << (plan_.width - 1);
    PointRuns runs;
    runs.starts.assign(buckets + 1, 0);
    for (const std::uint32_t term : terms_) {
      const std::int32_t digit = signed_digit(integers_[term], window, plan_.width);
      ++runs.starts[static_cast<std::size_t>(std::abs(digit))];
    }
    // Digit 0 needs no bucket; starts[d] now becomes the end of bucket d, and filling from the back
    // makes it the start of the next.
    runs.starts[0] = 0;
    for (std::size_t i = 1; i <= buckets; ++i) runs.starts[i] += runs.starts[i - 1];
    runs.references.resize(runs.starts[buckets]);
    std::vector<std::uint32_t> next(runs.starts.begin(), runs.starts.end() - 1);
    for (const std::uint32_t term : terms_) {
      const std::int32_t digit = signed_digit(integers_[term], window, plan_.width);
      if (digit == 0) continue;
      const std::uint32_t sign = digit < 0 ? PointRuns::kNegatedPoint : 0;
      runs.references[next[static_cast<std::size_t>(std::abs(digit)) - 1]++] = term | sign;
    }
    return runs;
  }

  // The sum of (i + 1) buckets[i]. With i = row * columns + column it is columns * (sum of row *
  // row sum) + (sum of column * column sum) + sum of all; rows and columns are summed affine.
  static XyzzPoint<Group> weighted_sum(std::span<const AffinePoint<Group>> buckets,
                                       RunSums<Group>& run_sums) {
    std::size_t log2_columns = 0;
    while ((buckets.size() >> (2 * log2_columns)) > 1) ++log2_columns;
    const std::size_t columns = std::size_t{1} << log2_columns;
    const std::size_t rows = buckets.size() / columns;
    const std::vector<AffinePoint<Group>> sums = run_sums.sum(buckets, grid_runs(rows, columns));
    const std::span<const AffinePoint<Group>> all(sums);
    XyzzPoint<Group> result = XyzzPoint<Group>::infinity();
    const XyzzPoint<Group> total = add_multiples(all.first(rows), result);
    for (std::size_t i = 0; i < log2_columns; ++i) result = result.doubled();
    add_multiples(all.subspan(rows), result);
    result.add(total);
    return result;
  }

  // A run for every row and then one for every column.
  static PointRuns grid_runs(std::size_t rows, std::size_t columns) {
    PointRuns runs;
    runs.references.reserve(2 * rows * columns);
    for (std::size_t row = 0; row < rows; ++row) {
      runs.starts.push_back(static_cast<std::uint32_t>(runs.references.size()));
      for (std::size_t column = 0; column < columns; ++column) {
        runs.references.push_back(static_cast<std::uint32_t>(row * columns + column));
      }
    }
    for (std::size_t column = 0; column < columns; ++column) {
      runs.starts.push_back(static_cast<std::uint32_t>(runs.references.size()));
      for (std::size_t row = 0; row < rows; ++row) {
        runs.references.push_back(static_cast<std::uint32_t>(row * columns + column));
      }
    }
    runs.starts.push_back(static_cast<std::uint32_t>(runs.references.size()));
    return runs;
  }

  // Adds the sum of i * points[i] to `result`; returns the sum of points[i].
  static XyzzPoint<Group> add_multiples(std::span<const AffinePoint<Group>> points,
                                        XyzzPoint<Group>& result) {
    XyzzPoint<Group> suffix = XyzzPoint<Group>::infinity();
    for (std::size_t i = points.size(); i-- > 1;) {
      suffix.add(points[i]);
      result.add(suffix);
    }
    suffix.add(points[0]);
    return suffix;
  }

  std::span<const AffinePoint<Group>> points_;
  std::span<const Limbs> integers_;
  std::span<const std::uint32_t> terms_;
  WindowPlan plan_;
};

}  // namespace

template <class Group>
XyzzPoint<Group> msm(std::span<const AffinePoint<Group>> points,
                     std::span<const typename Group::Scalar::Limbs> integers, ThreadPool& pool) {
  assert(points.size() == integers.size());
  assert(points.size() < PointRuns::kNegatedPoint);
  const Terms terms = sort_out_terms<Group>(points, integers);
  RunSums<Group> run_sums(pool);
  const auto ones = XyzzPoint<Group>::from_affine(run_sums.sum(points, terms.ones)[0]);
  if (terms.others.empty()) return ones;

  const WindowPlan plan = choose_windows(terms.others.size(), terms.scalar_bits);
  const Windows<Group> windows(points, integers, terms.others, plan);
  std::vector<XyzzPoint<Group>> sums(plan.windows);
  pool.parallel_for(plan.windows, 1, [&](std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) {
      sums[begin] = windows.window_sum(static_cast<unsigned>(begin), run_sums);
    }
  });
  XyzzPoint<Group> result = XyzzPoint<Group>::infinity();
  for (std::size_t window = sums.size(); window-- > 0;) {
    for (unsigned bit = 0; bit < plan.width; ++bit) result = result.doubled();
    result.add(sums[window]);
  }
  result.add(ones);
  return result;
}

template XyzzPoint<Bn254::G1> msm(std::span<const AffinePoint<Bn254::G1>>,
                                  std::span<const Bn254::Fr::Limbs>, ThreadPool&);
template XyzzPoint<Bn254::G2> msm(std::span<const AffinePoint<Bn254::G2>>,
                                  std::span<const Bn254::Fr::Limbs>, ThreadPool&);
template XyzzPoint<Bls12_381::G1> msm(std::span<const AffinePoint<Bls12_381::G1>>,
                                      std::span<const Bls12_381::Fr::Limbs>, ThreadPool&);
template XyzzPoint<Bls12_381::G2> msm(std::span<const AffinePoint<Bls12_381::G2>>,
                                      std::span<const Bls12_381::Fr::Limbs>, ThreadPool&);

}  // namespace vitrine::kernels
