// SPDX-License-Identifier: Apache-2.0
#include "engine/synthetic_circuit.h"

#include <array>
#include <cstdlib>

#include "engine/circuit_builder.h"
#include "engine/seeded_numbers.h"
#include "engine/sha256_circuit.h"

namespace vitrine::engine {
namespace {

// The constants of a circuit are the same for all witnesses.
constexpr std::uint64_t kConstantsSeed = 0x76697472696e65;

// Constraints that fit: the domain also holds one row per public signal and for the constant.
std::uint32_t room(unsigned log2_size, std::uint32_t outputs) {
  return (std::uint32_t{1} << log2_size) - outputs - 1;
}

template <class Fr>
SyntheticCircuit finished(CircuitBuilder<Fr>& builder) {
  std::vector<ScalarInteger> witness = builder.witness();
  return {builder.take_r1cs(), std::move(witness)};
}

template <class Fr>
SyntheticCircuit build_chain(unsigned log2_size, std::uint64_t seed) {
  using Builder = CircuitBuilder<Fr>;
  Builder builder(1);
  const Fr constant = SeededNumbers(kConstantsSeed).next_element<Fr>();
  typename Builder::Combination x =
      builder.add_private_input(SeededNumbers(seed).next_element<Fr>());
  while (builder.constraints() + 1 < room(log2_size, 1)) {
    x = builder.multiply(x, x);
    x += std::pair(Builder::kOne, constant);
  }
  builder.set_output(0, x);
  return finished(builder);
}

template <class Fr>
SyntheticCircuit build_sha256(unsigned log2_size, std::uint64_t seed) {
  constexpr std::uint32_t kOutputs = 8;
  CircuitBuilder<Fr> builder(kOutputs);
  SeededNumbers numbers(seed);
  Sha256Circuit<Fr> hash(builder);
  const std::uint32_t limit = room(log2_size, kOutputs) - kOutputs;
  do {
    hash.run_round(static_cast<std::uint32_t>(numbers.next()));
  } while (builder.constraints() + hash.next_round_constraints() <= limit);
  for (std::uint32_t i = 0; i < kOutputs; ++i) {
    builder.set_output(i, Sha256Circuit<Fr>::packed(hash.state()[i]));
  }
  return finished(builder);
}

template <class Fr>
class PoseidonLike {
 public:
  using Builder = CircuitBuilder<Fr>;
  using Combination = typename Builder::Combination;
  static constexpr std::size_t kWidth = 5;
  static constexpr std::uint32_t kRoundConstraints = 3 * kWidth;

  PoseidonLike(Builder& builder, std::uint64_t seed)
      : builder_(builder), constants_(kConstantsSeed) {
    SeededNumbers numbers(seed);
    for (Combination& element : state_) {
      element = builder_.add_private_input(numbers.next_element<Fr>());
    }
    for (auto& row : layer_) {
      for (Fr& entry : row) entry = constants_.next_element<Fr>();
    }
  }

  // x^5 on every element, then the dense layer and a constant each.
  void run_round() {
    std::array<Combination, kWidth> powers;
    for (std::size_t i = 0; i < kWidth; ++i) {
      const auto squared = builder_.multiply(state_[i], state_[i]);
      const auto fourth = builder_.multiply(squared, squared);
      powers[i] = builder_.multiply(fourth, state_[i]);
    }
    for (std::size_t i = 0; i < kWidth; ++i) {
      state_[i] = Combination::constant(constants_.next_element<Fr>());
      for (std::size_t j = 0; j < kWidth; ++j) state_[i].add(powers[j], layer_[i][j]);
    }
  }

  [[nodiscard]] const Combination& result() const { return state_[0]; }

 private:
  Builder& builder_;
  SeededNumbers constants_;
  std::array<std::array<Fr, kWidth>, kWidth> layer_;
  std::array<Combination, kWidth> state_;
};

template <class Fr>
SyntheticCircuit build_poseidon_like(unsigned log2_size, std::uint64_t seed) {
  CircuitBuilder<Fr> builder(1);
  PoseidonLike<Fr> permutation(builder, seed);
  do {
    permutation.run_round();
  } while (builder.constraints() + PoseidonLike<Fr>::kRoundConstraints + 1 <= room(log2_size, 1));
  builder.set_output(0, permutation.result());
  return finished(builder);
}

}  // namespace

std::optional<CircuitKind> circuit_kind_from_name(std::string_view name) {
  if (name == "chain") return CircuitKind::kChain;
  if (name == "sha256") return CircuitKind::kSha256;
  if (name == "poseidon-like") return CircuitKind::kPoseidonLike;
  return std::nullopt;
}

// One step, the outputs and their rows must fit.
unsigned min_log2_size(CircuitKind kind) {
  switch (kind) {
    case CircuitKind::kChain:
      return 3;
    case CircuitKind::kSha256:
      return 9;
    case CircuitKind::kPoseidonLike:
      return 5;
  }
  std::abort();
}

template <class Fr>
SyntheticCircuit build_synthetic_circuit(CircuitKind kind, unsigned log2_size, std::uint64_t seed) {
  switch (kind) {
    case CircuitKind::kChain:
      return build_chain<Fr>(log2_size, seed);
    case CircuitKind::kSha256:
      return build_sha256<Fr>(log2_size, seed);
    case CircuitKind::kPoseidonLike:
      return build_poseidon_like<Fr>(log2_size, seed);
  }
  std::abort();
}

template SyntheticCircuit build_synthetic_circuit<kernels::Bn254::Fr>(CircuitKind, unsigned,
                                                                      std::uint64_t);
template SyntheticCircuit build_synthetic_circuit<kernels::Bls12_381::Fr>(CircuitKind, unsigned,
                                                                          std::uint64_t);

}  // namespace vitrine::engine
