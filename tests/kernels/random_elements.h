// SPDX-License-Identifier: Apache-2.0
// Random field elements and points for property tests, from a seed that a failure prints.
// VITRINE_TEST_SEED repeats a run.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>

#include "kernels/curve_point.h"

namespace vitrine::tests {

inline std::uint64_t test_seed() {
  if (const char* given = std::getenv("VITRINE_TEST_SEED"))
    return std::strtoull(given, nullptr, 10);
  return std::random_device{}();
}

// A canonical integer: random limbs below the modulus, by rejection of the few that are not.
template <class Field>
typename Field::Limbs random_integer(std::mt19937_64& source) {
  const std::size_t top_bits = kernels::bit_length(Field::modulus()) % 64;
  typename Field::Limbs limbs{};
  do {
    for (std::uint64_t& limb : limbs) limb = source();
    limbs.back() &= (std::uint64_t{1} << top_bits) - 1;
  } while (!Field::is_canonical(limbs));
  return limbs;
}

template <class Field>
Field random_element(std::mt19937_64& source) {
  if constexpr (requires { typename Field::Limbs; }) {
    return Field::from_integer(random_integer<Field>(source));
  } else {
    using Base = typename Field::BaseField;
    return {random_element<Base>(source), random_element<Base>(source)};
  }
}

template <class Group>
kernels::XyzzPoint<Group> random_point(std::mt19937_64& source) {
  return kernels::multiply(Group::generator(), random_integer<typename Group::Scalar>(source));
}

}  // namespace vitrine::tests
