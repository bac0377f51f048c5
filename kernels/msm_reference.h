// SPDX-License-Identifier: Apache-2.0
// The multi-scalar multiplication as its definition says, for tests: double and add for each term.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/curve_point.h"

namespace vitrine::kernels {

// The sum of integers[i] * points[i].
template <class Group>
XyzzPoint<Group> reference_msm(std::span<const AffinePoint<Group>> points,
                               std::span<const typename Group::Scalar::Limbs> integers) {
  XyzzPoint<Group> sum = XyzzPoint<Group>::infinity();
  for (std::size_t i = 0; i < points.size(); ++i) sum.add(multiply(points[i], integers[i]));
  return sum;
}

}  // namespace vitrine::kernels
