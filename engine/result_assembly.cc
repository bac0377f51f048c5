// SPDX-License-Identifier: Apache-2.0
#include "engine/result_assembly.h"

#include "engine/proof_compressed.h"
#include "engine/proof_json.h"

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

Result<std::string> compressed_result(std::span<const std::shared_ptr<const ProofTexts>> proofs) {
  std::string result;
  for (const auto& text : proofs) {
    const auto proof = parse_proof(text->proof);
    if (!proof) return proof.error();
    const auto* points = std::get_if<ProofPoints<kernels::Bls12_381>>(&*proof);
    if (points == nullptr) return bad_input("proofs of bn128 have no compressed form");
    const CompressedProof bytes = compress(*points);
    result.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return result;
}

}  // namespace vitrine::engine
