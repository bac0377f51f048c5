// SPDX-License-Identifier: Apache-2.0
#include "engine/decimal.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <iterator>

namespace vitrine::engine {

using boost::multiprecision::cpp_int;

std::string to_decimal(std::span<const std::uint64_t> limbs) {
  cpp_int value;
  boost::multiprecision::import_bits(value, limbs.begin(), limbs.end(), 64, false);
  return value.str();
}

bool from_decimal(std::string_view text, std::span<std::uint64_t> limbs) {
  // 20 digits are more than 64 bits, so longer texts cannot fit and need no arithmetic.
  const bool plausible = !text.empty() && text.size() <= 20 * limbs.size() &&
                         (text.front() != '0' || text.size() == 1) &&
                         std::all_of(text.begin(), text.end(),
                                     [](char digit) { return digit >= '0' && digit <= '9'; });
  if (!plausible) return false;
  const cpp_int value{std::string(text)};
  if (value != 0 && boost::multiprecision::msb(value) >= 64 * limbs.size()) return false;
  std::fill(limbs.begin(), limbs.end(), 0);
  boost::multiprecision::export_bits(value, limbs.begin(), 64, false);
  return true;
}

}  // namespace vitrine::engine
