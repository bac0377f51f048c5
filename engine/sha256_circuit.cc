// SPDX-License-Identifier: Apache-2.0
#include "engine/sha256_circuit.h"

namespace vitrine::engine {

const std::array<std::uint32_t, kSha256Rounds> kSha256RoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

const std::array<std::uint32_t, 8> kSha256InitialState = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

namespace {

constexpr unsigned kWordBits = 32;
constexpr std::size_t kMessageWords = 16;

template <class Fr>
Fr minus_two() {
  return -Fr::from_u64(2);
}

}  // namespace

template <class Fr>
Sha256Circuit<Fr>::Sha256Circuit(Builder& builder) : builder_(builder) {
  for (std::size_t i = 0; i < chaining_.size(); ++i) {
    chaining_[i] = constant_word(kSha256InitialState[i]);
  }
  state_ = chaining_;
}

template <class Fr>
void Sha256Circuit<Fr>::run_round(std::uint32_t message_word) {
  const auto& [a, b, c, d, e, f, g, h] = state_;
  const Word round_constant = constant_word(kSha256RoundConstants[round_]);
  const Word scheduled = schedule_word(message_word);
  const Word e_sum = rotated_sum(e, {6, 11, 25});
  const Word chosen = choose(e, f, g);
  const Word a_sum = rotated_sum(a, {2, 13, 22});
  const Word most = majority(a, b, c);
  const std::vector<const Word*> first = {&h, &e_sum, &chosen, &round_constant, &scheduled};
  std::vector<const Word*> for_e = first;
  for_e.push_back(&d);
  std::vector<const Word*> for_a = first;
  for_a.insert(for_a.end(), {&a_sum, &most});
  Word new_e = sum_modulo_2_32(for_e);
  Word new_a = sum_modulo_2_32(for_a);
  state_ = {std::move(new_a), a, b, c, std::move(new_e), e, f, g};
  if (++round_ < kSha256Rounds) return;
  add_chaining_value();
  schedule_.clear();
  round_ = 0;
}

template <class Fr>
std::uint32_t Sha256Circuit<Fr>::next_round_constraints() const {
  constexpr std::uint32_t kUpdates = 224 + 2 * 36;  // bit functions, sums of six and seven words
  constexpr std::uint32_t kNewWord = 32;
  constexpr std::uint32_t kScheduledWord = 61 + 54 + 35;
  constexpr std::uint32_t kChaining = 8 * 34;
  const std::uint32_t word = schedule_.size() < kMessageWords ? kNewWord : kScheduledWord;
  return kUpdates + word + (round_ + 1 == kSha256Rounds ? kChaining : 0);
}

template <class Fr>
typename Sha256Circuit<Fr>::Combination Sha256Circuit<Fr>::packed(const Word& word) {
  Combination sum;
  for (unsigned i = 0; i < kWordBits; ++i) sum.add(word[i], Fr::from_u64(std::uint64_t{1} << i));
  return sum;
}

template <class Fr>
typename Sha256Circuit<Fr>::Word Sha256Circuit<Fr>::constant_word(std::uint32_t value) const {
  Word word;
  for (unsigned i = 0; i < kWordBits; ++i) {
    word[i] = Combination::constant(Fr::from_u64(value >> i & 1));
  }
  return word;
}

template <class Fr>
typename Sha256Circuit<Fr>::Word Sha256Circuit<Fr>::new_word(std::uint32_t value) {
  Word word;
  for (unsigned i = 0; i < kWordBits; ++i) word[i] = new_bit((value >> i & 1) != 0);
  return word;
}

// b (b - 1) = 0.
template <class Fr>
typename Sha256Circuit<Fr>::Combination Sha256Circuit<Fr>::new_bit(bool value) {
  const auto bit = builder_.add_signal(Fr::from_u64(value ? 1 : 0));
  Combination less_one(bit);
  less_one += std::pair(Builder::kOne, -Fr::one());
  builder_.constrain(bit, less_one, {});
  return bit;
}

// 2 a b = a + b - (a xor b).
template <class Fr>
typename Sha256Circuit<Fr>::Combination Sha256Circuit<Fr>::exclusive_or(const Combination& a,
                                                                        const Combination& b) {
  const bool value = builder_.value_of(a) != builder_.value_of(b);
  const auto result = builder_.add_signal(Fr::from_u64(value ? 1 : 0));
  Combination twice_a;
  twice_a.add(a, Fr::from_u64(2));
  Combination rest = a;
  rest.add(b, Fr::one());
  rest += std::pair(result, -Fr::one());
  builder_.constrain(twice_a, b, rest);
  return result;
}

template <class Fr>
typename Sha256Circuit<Fr>::Word Sha256Circuit<Fr>::rotated_sum(const Word& word,
                                                                std::array<unsigned, 3> rotations) {
  Word result;
  for (unsigned i = 0; i < kWordBits; ++i) {
    const Combination first =
        exclusive_or(word[(i + rotations[0]) % kWordBits], word[(i + rotations[1]) % kWordBits]);
    result[i] = exclusive_or(first, word[(i + rotations[2]) % kWordBits]);
  }
  return result;
}

// Like rotated_sum, but the third amount shifts.
template <class Fr>
typename Sha256Circuit<Fr>::Word Sha256Circuit<Fr>::shifted_sum(const Word& word,
                                                                std::array<unsigned, 3> amounts) {
  Word result;
  for (unsigned i = 0; i < kWordBits; ++i) {
    result[i] =
        exclusive_or(word[(i + amounts[0]) % kWordBits], word[(i + amounts[1]) % kWordBits]);
    if (i + amounts[2] < kWordBits) result[i] = exclusive_or(result[i], word[i + amounts[2]]);
  }
  return result;
}

// zero + selector (one - zero).
template <class Fr>
typename Sha256Circuit<Fr>::Word Sha256Circuit<Fr>::choose(const Word& selector, const Word& one,
                                                           const Word& zero) {
  Word result;
  for (unsigned i = 0; i < kWordBits; ++i) {
    Combination difference = one[i];
    difference.add(zero[i], -Fr::one());
    const bool selected = !builder_.value_of(selector[i]).is_zero();
    const auto bit = builder_.add_signal(builder_.value_of(selected ? one[i] : zero[i]));
    Combination change(bit);
    change.add(zero[i], -Fr::one());
    builder_.constrain(selector[i], difference, change);
    result[i] = bit;
  }
  return result;
}

// a b + c (a + b - 2 a b), the products being bits too.
template <class Fr>
typename Sha256Circuit<Fr>::Word Sha256Circuit<Fr>::majority(const Word& a, const Word& b,
                                                             const Word& c) {
  Word result;
  for (unsigned i = 0; i < kWordBits; ++i) {
    const auto both = builder_.multiply(a[i], b[i]);
    Combination differ = a[i];
    differ.add(b[i], Fr::one());
    differ += std::pair(both, minus_two<Fr>());
    const Fr value = builder_.value_of(both) + builder_.value_of(c[i]) * builder_.value_of(differ);
    const auto bit = builder_.add_signal(value);
    Combination rest(bit);
    rest += std::pair(both, -Fr::one());
    builder_.constrain(c[i], differ, rest);
    result[i] = bit;
  }
  return result;
}

// The sum's bits are new signals; those above bit 31 are dropped.
template <class Fr>
typename Sha256Circuit<Fr>::Word Sha256Circuit<Fr>::sum_modulo_2_32(
    const std::vector<const Word*>& words) {
  Combination sum;
  for (const Word* word : words) sum.add(packed(*word), Fr::one());
  const std::uint64_t value = builder_.value_of(sum).to_integer()[0];
  Combination bits;
  Word result;
  const std::uint64_t largest = words.size() * std::uint64_t{0xffffffff};
  for (unsigned i = 0; largest >> i > 0; ++i) {
    const Combination bit = new_bit((value >> i & 1) != 0);
    bits.add(bit, Fr::from_u64(std::uint64_t{1} << i));
    if (i < kWordBits) result[i] = bit;
  }
  builder_.constrain(sum, Builder::kOne, bits);
  return result;
}

template <class Fr>
typename Sha256Circuit<Fr>::Word Sha256Circuit<Fr>::schedule_word(std::uint32_t message_word) {
  const std::size_t t = schedule_.size();
  if (t < kMessageWords) {
    schedule_.push_back(new_word(message_word));
  } else {
    const Word low = shifted_sum(schedule_[t - 15], {7, 18, 3});
    const Word high = shifted_sum(schedule_[t - 2], {17, 19, 10});
    schedule_.push_back(sum_modulo_2_32({&high, &schedule_[t - 7], &low, &schedule_[t - 16]}));
  }
  return schedule_.back();
}

template <class Fr>
void Sha256Circuit<Fr>::add_chaining_value() {
  for (std::size_t i = 0; i < state_.size(); ++i) {
    chaining_[i] = sum_modulo_2_32({&chaining_[i], &state_[i]});
  }
  state_ = chaining_;
}

template class Sha256Circuit<kernels::Bn254::Fr>;
template class Sha256Circuit<kernels::Bls12_381::Fr>;

}  // namespace vitrine::engine
