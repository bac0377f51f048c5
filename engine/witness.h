// SPDX-License-Identifier: Apache-2.0
// A snarkjs `.wtns`: the values of all signals of a circuit for one input.
//
// Layout: signal 0 is the constant 1, then outputs, public inputs, private inputs, inner signals;
// canonical integers, little-endian limbs.
// Why: a witness is a secret. It is never logged or published, and its memory is wiped when freed.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/curve_id.h"
#include "engine/error.h"
#include "engine/proof.h"
#include "engine/proving_key.h"

namespace vitrine::engine {

class Witness {
 public:
  Witness() = default;
  explicit Witness(std::vector<ScalarInteger> values) : values_(std::move(values)) {}
  Witness(Witness&&) noexcept = default;
  Witness& operator=(Witness&& other) noexcept;
  ~Witness();

  [[nodiscard]] std::span<const ScalarInteger> values() const { return values_; }

 private:
  void wipe() noexcept;

  std::vector<ScalarInteger> values_;
};

// Reads a witness and checks it against the circuit: field prime, length, every value canonical,
// w[0] = 1. Errors: kBadInput naming file, rule, expected and actual; kOutOfMemory. They call the
// file `name`; empty: its path.
[[nodiscard]] Result<Witness> read_witness(const std::filesystem::path& path, const KeyShape& shape,
                                           const std::string& name = {});

// Errors: kInternal naming the file.
[[nodiscard]] Result<void> write_witness(const std::filesystem::path& path, CurveId curve,
                                         std::span<const ScalarInteger> values);

// The part of the witness the proof makes public: signals 1 to shape.public_inputs.
[[nodiscard]] PublicInputs public_inputs_of(const Witness& witness, const KeyShape& shape);

}  // namespace vitrine::engine
