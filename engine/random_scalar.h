// SPDX-License-Identifier: Apache-2.0
// Uniform secret scalars from the kernel's random source.
//
// Why: proofs are zero knowledge only while their blinding is unknown, so there is no seed to set
// and no other source to fall back to.
#pragma once

#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "engine/error.h"

namespace vitrine::engine {

// Rejection sampling: the modulus' unused top bits are cleared and values not below it thrown away,
// so every value is equally likely. Errors: kInternal when the kernel gives no random bytes.
template <class Fr>
[[nodiscard]] Result<Fr> random_scalar() {
  constexpr int kUnusedBits = std::countl_zero(Fr::modulus().back());
  while (true) {
    typename Fr::Limbs limbs;
    const ssize_t got = ::getrandom(limbs.data(), sizeof(limbs), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(sizeof(limbs))) {
      return Error{ErrorClass::kInternal, "the kernel's random source gave no bytes"};
    }
    limbs.back() &= ~std::uint64_t{0} >> kUnusedBits;
    if (Fr::is_canonical(limbs)) return Fr::from_integer(limbs);
  }
}

}  // namespace vitrine::engine
