// SPDX-License-Identifier: Apache-2.0
// A circuit's constraints, and snarkjs' `.r1cs` file of them.
//
// Layout: constraint i says (A_i w)(B_i w) = C_i w. Signals in the witness' order: the constant 1,
// outputs, public inputs, private inputs, inner signals.
// Why: only development keys are made from these files; a prover needs the proving key alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <variant>

#include "engine/curve_id.h"
#include "engine/error.h"
#include "engine/proving_key.h"

namespace vitrine::engine {

struct R1csShape {
  std::uint32_t variables = 1;
  std::uint32_t outputs = 0;
  std::uint32_t public_inputs = 0;  // without the outputs
  std::uint32_t private_inputs = 0;
  std::uint32_t constraints = 0;

  // What a key calls its public inputs.
  [[nodiscard]] std::uint32_t public_signals() const { return outputs + public_inputs; }
};

// Here a matrix has one row per constraint and its values are plain field elements.
template <class Fr>
struct R1csMatrices {
  ConstraintMatrix<Fr> a, b, c;
};

struct R1cs {
  R1csShape shape;
  std::variant<R1csMatrices<kernels::Bn254::Fr>, R1csMatrices<kernels::Bls12_381::Fr>> matrices;
};

inline CurveId curve_of(const R1cs& r1cs) { return static_cast<CurveId>(r1cs.matrices.index()); }

// Errors: kBadInput naming file, section, rule, expected and actual; kOutOfMemory.
[[nodiscard]] Result<R1cs> read_r1cs(const std::filesystem::path& path);

// Errors: kInternal naming the file.
[[nodiscard]] Result<void> write_r1cs(const std::filesystem::path& path, const R1cs& r1cs);

}  // namespace vitrine::engine
