// SPDX-License-Identifier: Apache-2.0
// Long division and multiplication on 32-bit halves of the limbs, so that 64 bits hold every step.
#include "engine/decimal.h"

#include <algorithm>
#include <vector>

namespace vitrine::engine {
namespace {

constexpr std::uint64_t kBillion = 1'000'000'000;
constexpr std::size_t kGroupDigits = 9;

// Divides by a billion in place and returns the remainder.
std::uint64_t divide_by_billion(std::span<std::uint64_t> limbs) {
  std::uint64_t remainder = 0;
  for (auto limb = limbs.rbegin(); limb != limbs.rend(); ++limb) {
    const std::uint64_t high = remainder << 32 | *limb >> 32;
    const std::uint64_t low = (high % kBillion) << 32 | (*limb & 0xffffffff);
    *limb = (high / kBillion) << 32 | low / kBillion;
    remainder = low % kBillion;
  }
  return remainder;
}

// limbs = 10 limbs + digit; false when that does not fit.
bool append_digit(std::span<std::uint64_t> limbs, std::uint64_t digit) {
  std::uint64_t carry = digit;
  for (std::uint64_t& limb : limbs) {
    const std::uint64_t low = (limb & 0xffffffff) * 10 + carry;
    const std::uint64_t high = (limb >> 32) * 10 + (low >> 32);
    limb = high << 32 | (low & 0xffffffff);
    carry = high >> 32;
  }
  return carry == 0;
}

}  // namespace

std::string to_decimal(std::span<const std::uint64_t> limbs) {
  std::vector<std::uint64_t> rest(limbs.begin(), limbs.end());
  std::string digits;  // lowest first
  const auto is_zero = [](std::uint64_t limb) { return limb == 0; };
  while (!std::all_of(rest.begin(), rest.end(), is_zero)) {
    std::uint64_t group = divide_by_billion(rest);
    for (std::size_t i = 0; i < kGroupDigits; ++i, group /= 10) {
      digits += static_cast<char>('0' + group % 10);
    }
  }
  digits.erase(digits.find_last_not_of('0') + 1);
  return digits.empty() ? "0" : std::string(digits.rbegin(), digits.rend());
}

bool from_decimal(std::string_view text, std::span<std::uint64_t> limbs) {
  if (text.empty() || (text.front() == '0' && text.size() > 1)) return false;
  std::fill(limbs.begin(), limbs.end(), 0);
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return false;
    if (!append_digit(limbs, static_cast<std::uint64_t>(digit - '0'))) return false;
  }
  return true;
}

}  // namespace vitrine::engine
