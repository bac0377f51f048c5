// SPDX-License-Identifier: Apache-2.0
// The SHA-256 compression function as constraints on bits.
//
// Cost: 296 constraints a round for the two state updates, 32 for a message word of the first
// sixteen and 150 for each after, 272 to end a block.
// Source: FIPS 180-4, 6.2.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/circuit_builder.h"

namespace vitrine::engine {

inline constexpr unsigned kSha256Rounds = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
extern const std::array<std::uint32_t, kSha256Rounds> kSha256RoundConstants;
// The same of the square roots of the first 8 primes.
extern const std::array<std::uint32_t, 8> kSha256InitialState;

template <class Fr>
class Sha256Circuit {
 public:
  using Builder = CircuitBuilder<Fr>;
  using Combination = typename Builder::Combination;
  // Bit 0 is the least significant. Every bit's value is 0 or 1.
  using Word = std::array<Combination, 32>;
  using State = std::array<Word, 8>;

  explicit Sha256Circuit(Builder& builder);

  // One round; after the block's last, the state before the block is added.
  // `message_word` is used in rounds 0 to 15 of a block, which take a new word each.
  void run_round(std::uint32_t message_word);

  // The constraints run_round will add.
  [[nodiscard]] std::uint32_t next_round_constraints() const;

  [[nodiscard]] bool at_block_end() const { return round_ == 0; }
  // The working variables a to h; at a block's end, the chaining value.
  [[nodiscard]] const State& state() const { return state_; }
  // A word as one number.
  [[nodiscard]] static Combination packed(const Word& word);

 private:
  [[nodiscard]] Word constant_word(std::uint32_t value) const;
  [[nodiscard]] Word new_word(std::uint32_t value);
  [[nodiscard]] Combination new_bit(bool value);
  [[nodiscard]] Combination exclusive_or(const Combination& a, const Combination& b);
  [[nodiscard]] Word rotated_sum(const Word& word, std::array<unsigned, 3> rotations);
  [[nodiscard]] Word shifted_sum(const Word& word, std::array<unsigned, 3> amounts);
  [[nodiscard]] Word choose(const Word& selector, const Word& one, const Word& zero);
  [[nodiscard]] Word majority(const Word& a, const Word& b, const Word& c);
  [[nodiscard]] Word sum_modulo_2_32(const std::vector<const Word*>& words);
  [[nodiscard]] Word schedule_word(std::uint32_t message_word);
  void add_chaining_value();

  Builder& builder_;
  State chaining_;
  State state_;
  std::vector<Word> schedule_;  // of this block, so far
  unsigned round_ = 0;
};

extern template class Sha256Circuit<kernels::Bn254::Fr>;
extern template class Sha256Circuit<kernels::Bls12_381::Fr>;

}  // namespace vitrine::engine
