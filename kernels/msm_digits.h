// SPDX-License-Identifier: Apache-2.0
// Signed digits of a scalar, and how wide to make them.
//
// Why: signed digits halve the buckets; Booth's recoding reads a digit from the bits around it, so
//   nothing is carried between windows and no digit has to be stored.
// Source: Booth, "A signed binary multiplication technique" (1951).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/limbs.h"

namespace vitrine::kernels {

struct WindowPlan {
  unsigned width;    // bits per digit
  unsigned windows;  // digits per scalar
};

// Digit `window` of a radix 2^width representation with digits in [-2^(width-1), 2^(width-1)];
// width <= 30, window * width <= 64 N.
template <std::size_t N>
std::int32_t signed_digit(const LimbArray<N>& integer, unsigned window, unsigned width) {
  // The window's bits and, below them, the highest bit of the window before.
  std::uint64_t bits = integer[0] << 1;
  if (window > 0) {
    const std::size_t position = std::size_t{window} * width - 1;
    const std::size_t limb = position / 64;
    const std::size_t shift = position % 64;
    bits = integer[limb] >> shift;
    if (shift > 0 && limb + 1 < N) bits |= integer[limb + 1] << (64 - shift);
  }
  bits &= (std::uint64_t{2} << width) - 1;
  const auto rounded = static_cast<std::int32_t>((bits + 1) >> 1);
  const auto negative = static_cast<std::int32_t>(bits >> width);
  return rounded - negative * (std::int32_t{1} << width);
}

// The cheapest plan for `terms` scalars below 2^scalar_bits.
WindowPlan choose_windows(std::size_t terms, std::size_t scalar_bits);

}  // namespace vitrine::kernels
