// SPDX-License-Identifier: Apache-2.0
// The transform as its definition says, for tests: O(N^2) multiplications.
#pragma once

#include <span>
#include <vector>

namespace vitrine::kernels {

// result[i] = sum over k of coefficients[k] (shift root^i)^k.
template <class Fr>
std::vector<Fr> reference_transform(std::span<const Fr> coefficients, const Fr& root,
                                    const Fr& shift) {
  std::vector<Fr> values;
  Fr point = shift;
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    Fr sum = Fr::zero();
    Fr power = Fr::one();
    for (const Fr& coefficient : coefficients) {
      sum += coefficient * power;
      power *= point;
    }
    values.push_back(sum);
    point *= root;
  }
  return values;
}

}  // namespace vitrine::kernels
