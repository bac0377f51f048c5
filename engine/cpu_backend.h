// SPDX-License-Identifier: Apache-2.0
// The backend that runs every stage on the host's processors.
#pragma once

#include "engine/backend.h"

namespace vitrine::engine {

class CpuBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] Result<ConstraintValues> synthesize(const ProvingKey& key, const Witness& witness,
                                                    const StageContext& context) override;
  [[nodiscard]] Result<StartedProof> prove_start(const ProvingKey& key, Witness&& witness,
                                                 ConstraintValues&& values,
                                                 const StageContext& context) override;
  [[nodiscard]] Result<Proof> prove_finish(const ProvingKey& key, StartedProof&& started,
                                           const StageContext& context) override;
  [[nodiscard]] Result<void> verify(const VerifyingKey& key, const Proof& proof,
                                    const PublicInputs& public_inputs) override;
};

}  // namespace vitrine::engine
