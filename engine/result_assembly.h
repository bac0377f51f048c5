// SPDX-License-Identifier: Apache-2.0
// The result of a whole job, from the proofs of its partitions.
//
// Layout: {"proof":P,"publicSignals":S} for one partition, an array of such objects, in the order
// of the partitions, for several; P and S as snarkjs writes them. For BLS12-381 also compressed:
// the 192 bytes of each proof (proof_compressed.h), one behind the other.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/job.h"

namespace vitrine::engine {

[[nodiscard]] std::string proof_object(const ProofTexts& proof);

// Requires: every proof is there.
[[nodiscard]] std::string assemble_result(
    std::span<const std::shared_ptr<const ProofTexts>> proofs);

// Errors: kBadInput for proofs of a curve that has no such form.
[[nodiscard]] Result<std::string> compressed_result(
    std::span<const std::shared_ptr<const ProofTexts>> proofs);

}  // namespace vitrine::engine
