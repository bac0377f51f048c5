// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu_backend.h"

#include <utility>

namespace vitrine::engine {

Result<ConstraintValues> CpuBackend::synthesize(const ProvingKey& key, const Witness& witness,
                                                const StageContext& context) {
  return engine::synthesize(key, witness, context);
}

Result<StartedProof> CpuBackend::prove_start(const ProvingKey& key, Witness&& witness,
                                             ConstraintValues&& values,
                                             const StageContext& context) {
  return engine::prove_start(key, std::move(witness), std::move(values), context);
}

Result<Proof> CpuBackend::prove_finish(const ProvingKey& key, StartedProof&& started,
                                       const StageContext& context) {
  return engine::prove_finish(key, std::move(started), context);
}

Result<void> CpuBackend::verify(const VerifyingKey& key, const Proof& proof,
                                const PublicInputs& public_inputs) {
  return engine::verify(key, proof, public_inputs);
}

}  // namespace vitrine::engine
