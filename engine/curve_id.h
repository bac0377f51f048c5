// SPDX-License-Identifier: Apache-2.0
// Which of the two curves a file, key or proof belongs to, and the step from that run-time value to
// the compile-time curve the kernels are written for.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kernels/bls12_381.h"
#include "kernels/bn254.h"

namespace vitrine::engine {

enum class CurveId : std::uint8_t { kBn254, kBls12_381 };

// A canonical integer below the scalar field's modulus, little-endian limbs; four on both curves.
using ScalarInteger = std::array<std::uint64_t, 4>;
inline constexpr std::uint64_t kScalarBytes = 32;

static_assert(std::is_same_v<kernels::Bn254::Fr::Limbs, ScalarInteger>);
static_assert(std::is_same_v<kernels::Bls12_381::Fr::Limbs, ScalarInteger>);

template <class Curve>
inline constexpr CurveId kCurveId =
    std::is_same_v<Curve, kernels::Bn254> ? CurveId::kBn254 : CurveId::kBls12_381;

// Calls visit(std::type_identity<Curve>{}) for the curve `id` names.
template <class Visitor>
decltype(auto) with_curve(CurveId id, Visitor&& visit) {
  switch (id) {
    case CurveId::kBn254:
      return std::forward<Visitor>(visit)(std::type_identity<kernels::Bn254>{});
    case CurveId::kBls12_381:
      return std::forward<Visitor>(visit)(std::type_identity<kernels::Bls12_381>{});
  }
  std::abort();
}

// The name snarkjs gives the curve in JSON: "bn128" or "bls12381".
inline std::string_view curve_name(CurveId id) {
  return with_curve(id, [](auto curve) { return decltype(curve)::type::kName; });
}

inline std::optional<CurveId> curve_from_name(std::string_view name) {
  for (CurveId id : {CurveId::kBn254, CurveId::kBls12_381}) {
    if (name == curve_name(id)) return id;
  }
  return std::nullopt;
}

}  // namespace vitrine::engine
