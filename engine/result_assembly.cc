// SPDX-License-Identifier: Apache-2.0
#include "engine/result_assembly.h"

namespace vitrine::engine {

std::string proof_object(const ProofTexts& proof) {
  return "{\"proof\":" + proof.proof + ",\"publicSignals\":" + proof.inputs + "}";
}

std::string assemble_result(std::span<const std::shared_ptr<const ProofTexts>> proofs) {
  if (proofs.size() == 1) return proof_object(*proofs[0]);
  std::string result = "[";
  for (const auto& proof : proofs) {
    if (result.size() > 1) result += ",\n";
    result += proof_object(*proof);
  }
  return result + "]";
}

}  // namespace vitrine::engine
