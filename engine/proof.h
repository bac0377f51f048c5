// SPDX-License-Identifier: Apache-2.0
// What the prover produces and the verifier consumes: a Groth16 proof, its public inputs, and the
// verifying key, on either curve.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "engine/curve_id.h"
#include "kernels/curve_point.h"

namespace vitrine::engine {

template <class Curve>
struct ProofPoints {
  kernels::AffinePoint<typename Curve::G1> a;
  kernels::AffinePoint<typename Curve::G2> b;
  kernels::AffinePoint<typename Curve::G1> c;
};

using Proof = std::variant<ProofPoints<kernels::Bn254>, ProofPoints<kernels::Bls12_381>>;

// Outputs first, then public inputs, as in the witness; canonical integers.
struct PublicInputs {
  std::vector<ScalarInteger> values;
};

template <class Curve>
struct VerifyingPoints {
  kernels::AffinePoint<typename Curve::G1> alpha1;
  kernels::AffinePoint<typename Curve::G2> beta2, gamma2, delta2;
  std::vector<kernels::AffinePoint<typename Curve::G1>> ic;  // one per public input, plus one
};

using VerifyingKey =
    std::variant<VerifyingPoints<kernels::Bn254>, VerifyingPoints<kernels::Bls12_381>>;

inline CurveId curve_of(const Proof& proof) { return static_cast<CurveId>(proof.index()); }
inline CurveId curve_of(const VerifyingKey& key) { return static_cast<CurveId>(key.index()); }

}  // namespace vitrine::engine
