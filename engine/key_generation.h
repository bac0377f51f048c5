// SPDX-License-Identifier: Apache-2.0
// Makes a proving and verifying key for a circuit at once, for development.
//
// Why: a real ceremony takes minutes to hours. Here one process knows all the secrets (the toxic
// waste), so whoever runs it could forge proofs: such keys protect nothing.
// Source: Groth, "On the Size of Pairing-based Non-interactive Arguments", 2016, 3.2; the points of
// H in snarkjs' form (30-kernels "Formats").
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/error.h"
#include "engine/proof.h"
#include "engine/r1cs.h"
#include "kernels/thread_pool.h"

namespace vitrine::engine {

// The domain's rows are the constraints and one for each public signal and the constant.
// Errors: kBadInput when those are more than 2^27.
[[nodiscard]] Result<unsigned> log2_domain_of(const R1csShape& shape);

// Writes the proving key as snarkjs would, saying in its contribution section what it is, and
// answers the verifying key. Errors: kBadInput for a circuit too large, kInternal naming the file,
// kOutOfMemory.
[[nodiscard]] Result<VerifyingKey> write_development_key(const std::filesystem::path& zkey_path,
                                                         const R1cs& r1cs,
                                                         kernels::ThreadPool& threads);

}  // namespace vitrine::engine
