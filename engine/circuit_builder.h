// SPDX-License-Identifier: Apache-2.0
// Builds a circuit's constraints and one witness of it together.
//
// Threads: one.
// Why: development circuits are written as computations: every signal is given its value when it is
// made, and a constraint that its values do not satisfy is a broken invariant.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/r1cs.h"

namespace vitrine::engine {

template <class Fr>
class CircuitBuilder {
 public:
  using Signal = std::uint32_t;
  static constexpr Signal kOne = 0;

  // A sum of signals times coefficients.
  class Combination {
   public:
    Combination() = default;
    Combination(Signal signal) : terms_{{signal, Fr::one()}} {}
    [[nodiscard]] static Combination constant(const Fr& value) {
      return Combination() += std::pair(kOne, value);
    }

    // Adds a term. The same signal may come twice.
    Combination& operator+=(const std::pair<Signal, Fr>& term) {
      if (!term.second.is_zero()) terms_.push_back(term);
      return *this;
    }
    Combination& add(const Combination& other, const Fr& factor) {
      for (const auto& [signal, coefficient] : other.terms_) {
        *this += std::pair(signal, coefficient * factor);
      }
      return *this;
    }
    [[nodiscard]] const std::vector<std::pair<Signal, Fr>>& terms() const { return terms_; }

   private:
    std::vector<std::pair<Signal, Fr>> terms_;
  };

  explicit CircuitBuilder(std::uint32_t outputs) : outputs_(outputs) {
    values_.assign(std::size_t{outputs} + 1, Fr::zero());
    values_[kOne] = Fr::one();
    for (auto* matrix : {&matrices_.a, &matrices_.b, &matrices_.c}) matrix->row_begin = {0};
  }

  // The private inputs are to be made before any inner signal.
  [[nodiscard]] Signal add_private_input(const Fr& value) {
    assert(values_.size() == std::size_t{1} + outputs_ + private_inputs_);
    ++private_inputs_;
    return add_signal(value);
  }

  [[nodiscard]] Signal add_signal(const Fr& value) {
    values_.push_back(value);
    return static_cast<Signal>(values_.size() - 1);
  }

  // Output `index` is constrained to this value.
  void set_output(std::uint32_t index, const Combination& value) {
    assert(index < outputs_);
    values_[1 + index] = value_of(value);
    constrain(value, kOne, 1 + index);
  }

  // A new signal, constrained to be the product.
  [[nodiscard]] Signal multiply(const Combination& a, const Combination& b) {
    const Signal product = add_signal(value_of(a) * value_of(b));
    constrain(a, b, product);
    return product;
  }

  // a b = c.
  void constrain(const Combination& a, const Combination& b, const Combination& c) {
    assert(value_of(a) * value_of(b) == value_of(c));
    append_row(matrices_.a, a);
    append_row(matrices_.b, b);
    append_row(matrices_.c, c);
  }

  [[nodiscard]] Fr value_of(const Combination& combination) const {
    Fr sum;
    for (const auto& [signal, coefficient] : combination.terms()) {
      sum += values_[signal] * coefficient;
    }
    return sum;
  }

  [[nodiscard]] std::uint32_t constraints() const {
    return static_cast<std::uint32_t>(matrices_.a.row_begin.size() - 1);
  }

  [[nodiscard]] std::vector<ScalarInteger> witness() const {
    std::vector<ScalarInteger> integers(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) integers[i] = values_[i].to_integer();
    return integers;
  }

  // Moves the constraints out; the builder is then spent.
  [[nodiscard]] R1cs take_r1cs() {
    R1csShape shape;
    shape.variables = static_cast<std::uint32_t>(values_.size());
    shape.outputs = outputs_;
    shape.private_inputs = private_inputs_;
    shape.constraints = constraints();
    return {shape, std::move(matrices_)};
  }

 private:
  // Terms of the same signal become one; the row is in the order of the signals.
  static void append_row(ConstraintMatrix<Fr>& matrix, const Combination& combination) {
    auto terms = combination.terms();
    std::ranges::stable_sort(terms, {}, [](const auto& term) { return term.first; });
    for (auto term = terms.begin(); term != terms.end();) {
      const Signal signal = term->first;
      Fr coefficient;
      for (; term != terms.end() && term->first == signal; ++term) coefficient += term->second;
      if (coefficient.is_zero()) continue;
      matrix.signals.push_back(signal);
      matrix.values.push_back(coefficient);
    }
    matrix.row_begin.push_back(static_cast<std::uint32_t>(matrix.signals.size()));
  }

  std::uint32_t outputs_;
  std::uint32_t private_inputs_ = 0;
  std::vector<Fr> values_;
  R1csMatrices<Fr> matrices_;
};

}  // namespace vitrine::engine
