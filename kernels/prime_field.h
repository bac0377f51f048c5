// SPDX-License-Identifier: Apache-2.0
// Prime field arithmetic in Montgomery form: portable C++, and x86-64 where that runs.
//
// Layout: kLimbs little-endian 64-bit limbs holding a R mod p, R = 2^(64 kLimbs), always reduced
//   below p; sizeof is kBytes and any object may be copied with memcpy.
// Threads: values; no shared state.
// Cost: one multiplication is 2 kLimbs^2 + kLimbs word multiplications. Not constant time.
// Why: the modulus leaves the top bit of its highest limb free, so the interleaved carries fit one
//   word and the "no carry" form of CIOS applies (static_assert below).
// Source: Koc, Acar, Kaliski, "Analyzing and comparing Montgomery multiplication algorithms"
// (1996),
//   CIOS; its no-carry form: G. Botrel et al., gnark's note on faster big-integer multiplication.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "kernels/limbs.h"
#include "kernels/prime_field_x86.h"

namespace vitrine::kernels {

// Constants that follow from a modulus; Params gives kLimbs and kModulus (odd, prime).
template <class Params>
struct MontgomeryConstants {
  static constexpr std::size_t kLimbs = Params::kLimbs;
  using Limbs = LimbArray<kLimbs>;

  // value * 2^count mod p.
  static constexpr Limbs shift_left_modular(Limbs value, std::size_t count) {
    for (std::size_t step = 0; step < count; ++step) {
      std::uint64_t carry = 0;
      for (std::size_t i = 0; i < kLimbs; ++i) value[i] = add_with_carry(value[i], value[i], carry);
      if (!is_less(value, Params::kModulus)) value = subtract_limbs(value, Params::kModulus);
    }
    return value;
  }

  // -p^-1 mod 2^64; every Newton step doubles the number of right bits.
  static constexpr std::uint64_t negated_inverse() {
    std::uint64_t inverse = 1;
    for (int step = 0; step < 6; ++step) inverse *= 2 - Params::kModulus[0] * inverse;
    return 0 - inverse;
  }

  static constexpr std::uint64_t kNegatedInverse = negated_inverse();
  static constexpr Limbs kR = shift_left_modular(Limbs{1}, 64 * kLimbs);
  static constexpr Limbs kRSquared = shift_left_modular(kR, 64 * kLimbs);
};

template <class Params>
class PrimeField {
 public:
  static constexpr std::size_t kLimbs = Params::kLimbs;
  static constexpr std::size_t kBytes = 8 * kLimbs;
  using Limbs = LimbArray<kLimbs>;

  static_assert((Params::kModulus[0] & 1) == 1, "Montgomery form needs an odd modulus");
  static_assert(Params::kModulus[kLimbs - 1] < (std::uint64_t{1} << 63) - 1,
                "the no-carry multiplication needs a free top bit");

  constexpr PrimeField() = default;

  static constexpr PrimeField zero() { return PrimeField(); }
  static constexpr PrimeField one() { return PrimeField(Constants::kR); }
  static constexpr const Limbs& modulus() { return Params::kModulus; }

  static constexpr PrimeField from_u64(std::uint64_t value) { return from_integer(Limbs{value}); }

  // The limbs are already in Montgomery form and below the modulus.
  static constexpr PrimeField from_montgomery(const Limbs& limbs) { return PrimeField(limbs); }

  // The integer is below the modulus (is_canonical).
  static constexpr PrimeField from_integer(const Limbs& integer) {
    return PrimeField(integer) * PrimeField(Constants::kRSquared);
  }

  constexpr Limbs to_integer() const { return (*this * PrimeField(Limbs{1})).limbs_; }
  constexpr const Limbs& montgomery() const { return limbs_; }

  static constexpr bool is_canonical(const Limbs& limbs) {
    return is_less(limbs, Params::kModulus);
  }

  // Written out because compilers turn the comparison of arrays into a call.
  constexpr bool is_zero() const {
    std::uint64_t bits = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kLimbs; ++i) bits |= limbs_[i];
    return bits == 0;
  }
  constexpr bool operator==(const PrimeField& other) const {
    std::uint64_t bits = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kLimbs; ++i) bits |= limbs_[i] ^ other.limbs_[i];
    return bits == 0;
  }

  friend constexpr PrimeField operator+(const PrimeField& a, const PrimeField& b) {
#if VITRINE_X86_FIELDS
    if (!std::is_constant_evaluated()) {
      return PrimeField(add_modular_x86(a.limbs_, b.limbs_, Params::kModulus));
    }
#endif
    return add_portable(a, b);
  }

  friend constexpr PrimeField operator-(const PrimeField& a, const PrimeField& b) {
#if VITRINE_X86_FIELDS
    if (!std::is_constant_evaluated()) {
      return PrimeField(subtract_modular_x86(a.limbs_, b.limbs_, Params::kModulus));
    }
#endif
    return subtract_portable(a, b);
  }

  constexpr PrimeField operator-() const { return PrimeField() - *this; }

  friend constexpr PrimeField operator*(const PrimeField& a, const PrimeField& b) {
#if VITRINE_X86_FIELDS
    if (!std::is_constant_evaluated()) {
      if (cpu_has_adx) [[likely]] {
        return PrimeField(multiply_montgomery_adx(a.limbs_, b.limbs_, Params::kModulus,
                                                  Constants::kNegatedInverse));
      }
    }
#endif
    return multiply_portable(a, b);
  }

  constexpr PrimeField& operator+=(const PrimeField& other) { return *this = *this + other; }
  constexpr PrimeField& operator-=(const PrimeField& other) { return *this = *this - other; }
  constexpr PrimeField& operator*=(const PrimeField& other) { return *this = *this * other; }

  constexpr PrimeField squared() const { return *this * *this; }
  constexpr PrimeField doubled() const { return *this + *this; }

  // Left to right square and multiply; the exponent is a plain integer, 0 gives one.
  constexpr PrimeField pow(std::span<const std::uint64_t> exponent) const {
    PrimeField result = one();
    for (std::size_t i = bit_length(exponent); i-- > 0;) {
      result = result.squared();
      if (bit_at(exponent, i)) result *= *this;
    }
    return result;
  }

  // The operators without x86-64 instructions: what the compiler evaluates, what other machines
  // run, and what the fast ones are tested against.
  static constexpr PrimeField add_portable(const PrimeField& a, const PrimeField& b) {
    Limbs sum{};
    std::uint64_t carry = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kLimbs; ++i) {
      sum[i] = add_with_carry(a.limbs_[i], b.limbs_[i], carry);
    }
    return reduced_once(sum);
  }

  static constexpr PrimeField subtract_portable(const PrimeField& a, const PrimeField& b) {
    Limbs difference{};
    std::uint64_t borrow = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kLimbs; ++i) {
      difference[i] = subtract_with_borrow(a.limbs_[i], b.limbs_[i], borrow);
    }
    const std::uint64_t mask = 0 - borrow;
    std::uint64_t carry = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kLimbs; ++i) {
      difference[i] = add_with_carry(difference[i], Params::kModulus[i] & mask, carry);
    }
    return PrimeField(difference);
  }

  // Not inlined: beside the x86-64 product it would only take room in the instruction cache.
  [[gnu::noinline]] static constexpr PrimeField multiply_portable(const PrimeField& a,
                                                                  const PrimeField& b) {
    Limbs t{};
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kLimbs; ++i) {
      std::uint64_t product_carry = 0;
      t[0] = multiply_add(a.limbs_[0], b.limbs_[i], t[0], product_carry);
      const std::uint64_t factor = t[0] * Constants::kNegatedInverse;
      std::uint64_t reduction_carry = 0;
      multiply_add(factor, Params::kModulus[0], t[0], reduction_carry);
#pragma GCC unroll 8
      for (std::size_t j = 1; j < kLimbs; ++j) {
        t[j] = multiply_add(a.limbs_[j], b.limbs_[i], t[j], product_carry);
        t[j - 1] = multiply_add(factor, Params::kModulus[j], t[j], reduction_carry);
      }
      t[kLimbs - 1] = product_carry + reduction_carry;
    }
    return reduced_once(t);
  }

  // By Fermat's little theorem; the inverse of 0 is 0.
  constexpr PrimeField inverse() const { return pow(subtract_limbs(Params::kModulus, Limbs{2})); }

 private:
  using Constants = MontgomeryConstants<Params>;

  explicit constexpr PrimeField(const Limbs& limbs) : limbs_(limbs) {}

  // value < 2 p to value mod p.
  static constexpr PrimeField reduced_once(const Limbs& value) {
    Limbs difference{};
    std::uint64_t borrow = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kLimbs; ++i) {
      difference[i] = subtract_with_borrow(value[i], Params::kModulus[i], borrow);
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kLimbs; ++i) {
      difference[i] = borrow != 0 ? value[i] : difference[i];
    }
    return PrimeField(difference);
  }

  Limbs limbs_{};
};

}  // namespace vitrine::kernels
