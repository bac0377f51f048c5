// SPDX-License-Identifier: Apache-2.0
// Proofs, public inputs and verifying keys as snarkjs' JSON files.
//
// Layout: coordinates and scalars are decimal strings; points are projective with z = 1, or z = 0
// for infinity. The writers give byte for byte what snarkjs' JSON.stringify(x, null, 1) gives.
// Why: the texts are hostile input: bounded in size and depth, numbers only in their shortest form
// and below their modulus, verifying-key points on the curve and in the subgroup.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/error.h"
#include "engine/proof.h"

namespace vitrine::engine {

inline constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20;

[[nodiscard]] std::string proof_to_json(const Proof& proof);
[[nodiscard]] std::string public_to_json(const PublicInputs& inputs);
// Without vk_alphabeta_12, which no verifier reads.
[[nodiscard]] std::string verifying_key_to_json(const VerifyingKey& key);

// Errors: kBadInput naming the field and the rule (the caller knows the file's name). A parsed
// proof's points may still be off the curve and its public inputs too large: verify() checks them.
[[nodiscard]] Result<Proof> parse_proof(std::string_view text);
[[nodiscard]] Result<PublicInputs> parse_public(std::string_view text);
[[nodiscard]] Result<VerifyingKey> parse_verifying_key(std::string_view text);

}  // namespace vitrine::engine
