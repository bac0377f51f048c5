// SPDX-License-Identifier: Apache-2.0
// The seam between the pipeline and the arithmetic: what a device must be able to do.
//
// Threads: every function may be called from several worker threads at once.
// Why: the pipeline's behaviour under failure, delay and cancellation is tested with a scripted
// backend, and a GPU joins as one more implementation.
#pragma once

#include <string_view>

#include "engine/error.h"
#include "engine/groth16.h"

namespace vitrine::engine {

class Backend {
 public:
  virtual ~Backend() = default;

  // "cpu", "cuda": the word shown as the effective backend.
  [[nodiscard]] virtual std::string_view name() const = 0;

  // The stages, as groth16.h describes them.
  [[nodiscard]] virtual Result<ConstraintValues> synthesize(const ProvingKey& key,
                                                            const Witness& witness,
                                                            const StageContext& context) = 0;
  [[nodiscard]] virtual Result<StartedProof> prove_start(const ProvingKey& key, Witness&& witness,
                                                         ConstraintValues&& values,
                                                         const StageContext& context) = 0;
  [[nodiscard]] virtual Result<Proof> prove_finish(const ProvingKey& key, StartedProof&& started,
                                                   const StageContext& context) = 0;
  [[nodiscard]] virtual Result<void> verify(const VerifyingKey& key, const Proof& proof,
                                            const PublicInputs& public_inputs) = 0;
};

}  // namespace vitrine::engine
