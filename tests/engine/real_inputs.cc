// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/real_inputs.h"

namespace vitrine::engine::testing {
namespace {

Result<MadeProof> try_prove(const ProvingKey& key, const std::filesystem::path& wtns) {
  kernels::ThreadPool threads(2);
  const std::atomic<bool> cancelled = false;
  const StageContext context{threads, cancelled};
  auto witness = read_witness(wtns, key.shape);
  if (!witness) return witness.error();
  PublicInputs inputs = public_inputs_of(*witness, key.shape);
  auto values = synthesize(key, *witness, context);
  if (!values) return values.error();
  auto started = prove_start(key, std::move(*witness), std::move(*values), context);
  if (!started) return started.error();
  auto proof = prove_finish(key, std::move(*started), context);
  if (!proof) return proof.error();
  return MadeProof{*proof, std::move(inputs)};
}

}  // namespace

std::vector<std::filesystem::path> circuit_folders() {
  std::vector<std::filesystem::path> folders;
  for (const char* curve : {"bn128", "bls12381"}) {
    for (const char* circuit : {"multiplier", "demo", "sha256_round"}) {
      folders.push_back(circuit_folder(curve, circuit));
    }
  }
  return folders;
}

std::filesystem::path circuit_folder(const std::string& curve, const std::string& circuit) {
  return std::filesystem::path(VITRINE_TEST_DATA) / curve / circuit;
}

std::shared_ptr<const ProvingKey> load_key(const std::filesystem::path& zkey) {
  kernels::ThreadPool threads(2);
  return load_proving_key(zkey, {}, threads).value();
}

MadeProof prove(const ProvingKey& key, const std::filesystem::path& wtns) {
  return try_prove(key, wtns).value();
}

Result<void> prove_and_verify(const std::filesystem::path& zkey,
                              const std::filesystem::path& wtns) {
  kernels::ThreadPool threads(2);
  auto key = load_proving_key(zkey, {}, threads);
  if (!key) return key.error();
  auto made = try_prove(**key, wtns);
  if (!made) return made.error();
  return verify((*key)->verifying_key, made->proof, made->inputs);
}

}  // namespace vitrine::engine::testing
