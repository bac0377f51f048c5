// SPDX-License-Identifier: Apache-2.0
// The Groth16 prover as separate stages, so that each can be scheduled, budgeted and shown alone.
//
//   witness -> synthesize (a, b, c) -> prove_start (h; a, b, c freed) -> prove_finish (proof)
//
// Threads: a stage may run on any thread and uses the pool in its context; stages of different
// partitions may run at once. Cancellation is noticed between steps, not inside a kernel.
// Source: Groth, "On the Size of Pairing-based Non-interactive Arguments", 2016; the quotient in
// snarkjs' form, as odd points of the double domain (30-kernels "Formats").
#pragma once

#include <atomic>
#include <cstdint>
#include <variant>

#include "engine/error.h"
#include "engine/large_vector.h"
#include "engine/proof.h"
#include "engine/proving_key.h"
#include "engine/witness.h"
#include "kernels/thread_pool.h"

namespace vitrine::engine {

struct StageContext {
  kernels::ThreadPool& threads;
  const std::atomic<bool>& cancelled;
};

// What one partition needs beyond its key, by consumer. `constraint_values` and its part of
// `scratch` end with prove_start; the rest with prove_finish.
struct WorkingBytes {
  std::uint64_t witness = 0;
  std::uint64_t constraint_values = 0;  // a, b, c
  std::uint64_t quotient = 0;           // h
  std::uint64_t scratch = 0;            // twiddles, MSM buckets
  [[nodiscard]] std::uint64_t total() const {
    return witness + constraint_values + quotient + scratch;
  }
};

// `threads` is the size of the pool the stages will run with.
[[nodiscard]] WorkingBytes working_bytes(const KeyShape& shape, unsigned threads);

template <class Fr>
struct ConstraintVectors {
  LargeVector<Fr> a, b, c;  // domain_size each
};

// a = A w, b = B w, c = a∘b at the points of the domain.
using ConstraintValues =
    std::variant<ConstraintVectors<kernels::Bn254::Fr>, ConstraintVectors<kernels::Bls12_381::Fr>>;

// Between the two proving steps: the witness and the scalars of the quotient's MSM.
struct StartedProof {
  Witness witness;
  LargeVector<ScalarInteger> quotient;  // domain_size
};

// Errors of all stages: kCancelled, kOutOfMemory. Shapes must match the key (a broken invariant
// otherwise): read_witness has checked the witness against it.
[[nodiscard]] Result<ConstraintValues> synthesize(const ProvingKey& key, const Witness& witness,
                                                  const StageContext& context);

[[nodiscard]] Result<StartedProof> prove_start(const ProvingKey& key, Witness&& witness,
                                               ConstraintValues&& values,
                                               const StageContext& context);

// Blinding comes from the kernel's random source; kInternal when there is none.
[[nodiscard]] Result<Proof> prove_finish(const ProvingKey& key, StartedProof&& started,
                                         const StageContext& context);

// Checks the proof's points (curve, subgroup), the public inputs (count, canonical) and the pairing
// equation. kVerifyFailed says the statement is not proved; kBadInput that it was not well formed.
[[nodiscard]] Result<void> verify(const VerifyingKey& key, const Proof& proof,
                                  const PublicInputs& public_inputs);

}  // namespace vitrine::engine
