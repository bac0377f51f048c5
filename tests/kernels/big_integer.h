// SPDX-License-Identifier: Apache-2.0
// Limbs as Boost.Multiprecision integers: the reference arithmetic, which shares no code with ours.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <span>
#include <vector>

namespace vitrine::tests {

using BigInteger = boost::multiprecision::cpp_int;

inline BigInteger to_big(std::span<const std::uint64_t> limbs) {
  BigInteger value;
  boost::multiprecision::import_bits(value, limbs.begin(), limbs.end(), 64, false);
  return value;
}

inline std::vector<std::uint64_t> to_limbs(const BigInteger& value) {
  std::vector<std::uint64_t> limbs;
  boost::multiprecision::export_bits(value, std::back_inserter(limbs), 64, false);
  return limbs;
}

template <class Limbs>
Limbs to_fixed_limbs(const BigInteger& value) {
  const std::vector<std::uint64_t> limbs = to_limbs(value);
  Limbs fixed{};
  for (std::size_t i = 0; i < limbs.size(); ++i) fixed.at(i) = limbs[i];
  return fixed;
}

}  // namespace vitrine::tests
