// SPDX-License-Identifier: Apache-2.0
// Circuits of any size for benchmarks and tests, with as many different witnesses as wanted.
//
// Why: provers behave differently on dense witnesses (`chain`, `poseidon-like`) and on bits
// (`sha256`), and real ceremonies for large circuits take hours.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/error.h"
#include "engine/r1cs.h"

namespace vitrine::engine {

enum class CircuitKind {
  kChain,         // x <- x^2 + c, one constraint a step
  kSha256,        // the SHA-256 compression function on bits, block after block
  kPoseidonLike,  // x^5 and dense linear layers on a state of five
};

[[nodiscard]] std::optional<CircuitKind> circuit_kind_from_name(std::string_view name);

// The smallest and largest log2_size of each kind.
[[nodiscard]] unsigned min_log2_size(CircuitKind kind);
inline constexpr unsigned kMaxLog2Size = 24;

struct SyntheticCircuit {
  R1cs r1cs;
  std::vector<ScalarInteger> witness;
};

// A circuit that fills a domain of 2^log2_size as far as whole steps do. The constraints depend on
// kind, size and curve alone; the witness also on `seed`.
template <class Fr>
[[nodiscard]] SyntheticCircuit build_synthetic_circuit(CircuitKind kind, unsigned log2_size,
                                                       std::uint64_t seed);

extern template SyntheticCircuit build_synthetic_circuit<kernels::Bn254::Fr>(CircuitKind, unsigned,
                                                                             std::uint64_t);
extern template SyntheticCircuit build_synthetic_circuit<kernels::Bls12_381::Fr>(CircuitKind,
                                                                                 unsigned,
                                                                                 std::uint64_t);

}  // namespace vitrine::engine
