// SPDX-License-Identifier: Apache-2.0
#include "kernels/msm_digits.h"

#include <limits>

namespace vitrine::kernels {
namespace {

// Field multiplications: a term is added to a bucket once; a bucket is
// added to its row and to its column; each window costs some inversions and sums of its own.
constexpr double kCostPerTerm = 6;
constexpr double kCostPerBucket = 12;
constexpr double kCostPerWindow = 8000;
constexpr unsigned kMaxWidth = 20;

}  // namespace

WindowPlan choose_windows(std::size_t terms, std::size_t scalar_bits) {
  WindowPlan best = {1, static_cast<unsigned>(scalar_bits) + 1};
  double best_cost = std::numeric_limits<double>::infinity();
  for (unsigned width = 2; width <= kMaxWidth; ++width) {
    // One bit more than the scalar has, for the sign.
    const auto windows = static_cast<unsigned>(scalar_bits / width + 1);
    const double buckets = static_cast<double>(std::size_t{1} << (width - 1));
    const double cost = windows * (kCostPerTerm * static_cast<double>(terms) +
                                   kCostPerBucket * buckets + kCostPerWindow);
    if (cost >= best_cost) continue;
    best_cost = cost;
    best = {width, windows};
  }
  return best;
}

}  // namespace vitrine::kernels
