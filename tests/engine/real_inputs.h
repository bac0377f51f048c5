// SPDX-License-Identifier: Apache-2.0
// The committed circuits with their real keys, and the whole way from a witness to a proof.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/groth16.h"

namespace vitrine::engine::testing {

// tests/data/CURVE/CIRCUIT for every committed circuit.
std::vector<std::filesystem::path> circuit_folders();
std::filesystem::path circuit_folder(const std::string& curve, const std::string& circuit);

// Throws when the key is not accepted.
std::shared_ptr<const ProvingKey> load_key(const std::filesystem::path& zkey);

struct MadeProof {
  Proof proof;
  PublicInputs inputs;
};

// All stages on two threads. Throws when one fails; verifies nothing.
MadeProof prove(const ProvingKey& key, const std::filesystem::path& wtns);

// As vitrine-prove would: load, prove, verify. The first error on the way.
Result<void> prove_and_verify(const std::filesystem::path& zkey, const std::filesystem::path& wtns);

}  // namespace vitrine::engine::testing
