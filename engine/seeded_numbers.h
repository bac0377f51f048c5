// SPDX-License-Identifier: Apache-2.0
// Reproducible numbers for synthetic circuits. Not for secrets: those come from random_scalar.h.
//
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014 (SplitMix64).
#pragma once

#include <cstdint>

namespace vitrine::engine {

class SeededNumbers {
 public:
  explicit SeededNumbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
  }

  // A field element with all limbs busy.
  template <class Fr>
  Fr next_element() {
    Fr element = Fr::from_u64(next());
    const Fr shift = Fr::from_u64(next());
    for (int i = 0; i < 3; ++i) element = element * shift + Fr::from_u64(next());
    return element;
  }

 private:
  std::uint64_t state_;
};

}  // namespace vitrine::engine
