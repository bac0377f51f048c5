// SPDX-License-Identifier: Apache-2.0
// A BLS12-381 proof in the 192-byte form used outside snarkjs: A (48), B (96), C (48).
//
// Layout: each point is its x coordinate, big endian, c1 before c0; the three top bits of the first
// byte say: compressed, infinity, y is the larger of the two roots.
// Source: "ZCash serialization format" of the BLS12-381 specification; IETF draft
// pairing-friendly-curves, appendix C.
#pragma once

#include <array>
#include <cstddef>

#include "engine/proof.h"

namespace vitrine::engine {

using CompressedG1 = std::array<std::byte, 48>;
using CompressedG2 = std::array<std::byte, 96>;
using CompressedProof = std::array<std::byte, 192>;

[[nodiscard]] CompressedG1 compress(const kernels::AffinePoint<kernels::Bls12_381::G1>& point);
[[nodiscard]] CompressedG2 compress(const kernels::AffinePoint<kernels::Bls12_381::G2>& point);
[[nodiscard]] CompressedProof compress(const ProofPoints<kernels::Bls12_381>& proof);

}  // namespace vitrine::engine
