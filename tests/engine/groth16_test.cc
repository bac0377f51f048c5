// SPDX-License-Identifier: Apache-2.0
#include "engine/groth16.h"

#include <catch2/catch.hpp>
#include <random>

#include "engine/cpu_backend.h"
#include "engine/proof_json.h"
#include "engine/r1cs.h"
#include "kernels/ntt.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"

namespace vitrine::engine::testing {
namespace {

const std::atomic<bool> kNotCancelled = false;

TEST_CASE("every committed circuit is proved, and the proof verifies with snarkjs' key") {
  for (const auto& folder : circuit_folders()) {
    const auto key = load_key(folder / "circuit.zkey");
    const VerifyingKey exported =
        parse_verifying_key(read_file(folder / "verification_key.json")).value();
    for (const int index : {0, 1, 2}) {
      CAPTURE(folder, index);
      const MadeProof made = prove(*key, folder / ("witness." + std::to_string(index) + ".wtns"));
      CHECK(verify(key->verifying_key, made.proof, made.inputs).has_value());
      CHECK(verify(exported, made.proof, made.inputs).has_value());
    }
  }
}

TEST_CASE("proofs made by snarkjs verify") {
  for (const auto& folder : circuit_folders()) {
    CAPTURE(folder);
    const auto key = parse_verifying_key(read_file(folder / "verification_key.json")).value();
    const auto proof = parse_proof(read_file(folder / "proof.json")).value();
    const auto inputs = parse_public(read_file(folder / "public.json")).value();
    CHECK(verify(key, proof, inputs).has_value());
  }
}

TEST_CASE("two proofs of one witness are blinded differently") {
  const auto folder = circuit_folder("bn128", "multiplier");
  const auto key = load_key(folder / "circuit.zkey");
  const MadeProof first = prove(*key, folder / "witness.1.wtns");
  const MadeProof second = prove(*key, folder / "witness.1.wtns");
  CHECK(proof_to_json(first.proof) != proof_to_json(second.proof));
}

TEST_CASE("one changed bit in a public input is refused") {
  for (const auto& folder : circuit_folders()) {
    CAPTURE(folder);
    const auto key = parse_verifying_key(read_file(folder / "verification_key.json")).value();
    const auto proof = parse_proof(read_file(folder / "proof.json")).value();
    auto inputs = parse_public(read_file(folder / "public.json")).value();
    inputs.values.back()[0] ^= 1;
    CHECK(verify(key, proof, inputs).error().error_class == ErrorClass::kVerifyFailed);
  }
}

TEST_CASE("exchanged points of a proof are refused") {
  const auto folder = circuit_folder("bn128", "demo");
  const auto key = parse_verifying_key(read_file(folder / "verification_key.json")).value();
  const auto inputs = parse_public(read_file(folder / "public.json")).value();
  auto proof =
      std::get<ProofPoints<kernels::Bn254>>(parse_proof(read_file(folder / "proof.json")).value());
  std::swap(proof.a, proof.c);
  CHECK(verify(key, proof, inputs).error().error_class == ErrorClass::kVerifyFailed);
}

TEST_CASE("a proof that is not well formed is refused as bad input") {
  const auto folder = circuit_folder("bn128", "demo");
  const auto key = parse_verifying_key(read_file(folder / "verification_key.json")).value();
  const auto inputs = parse_public(read_file(folder / "public.json")).value();
  auto proof =
      std::get<ProofPoints<kernels::Bn254>>(parse_proof(read_file(folder / "proof.json")).value());
  SECTION("point off the curve") {
    proof.a.x += kernels::Bn254::Fq::one();
    CHECK(verify(key, proof, inputs).error().error_class == ErrorClass::kBadInput);
  }
  SECTION("too few public inputs") {
    CHECK(verify(key, proof, {}).error().error_class == ErrorClass::kBadInput);
  }
  SECTION("public input not below the modulus") {
    PublicInputs large = inputs;
    large.values[0] = kernels::Bn254::Fr::modulus();
    CHECK(verify(key, proof, large).error().error_class == ErrorClass::kBadInput);
  }
  SECTION("proof of the other curve") {
    const auto other = parse_proof(read_file(circuit_folder("bls12381", "demo") / "proof.json"));
    CHECK(verify(key, *other, inputs).error().error_class == ErrorClass::kBadInput);
  }
}

// The plain definition: one multiplication and addition an entry, in canonical numbers.
template <class Fr>
LargeVector<Fr> plain_product(const ConstraintMatrix<Fr>& matrix, const Witness& witness) {
  LargeVector<Fr> values;
  for (std::size_t row = 0; row + 1 < matrix.row_begin.size(); ++row) {
    Fr sum;
    for (auto i = matrix.row_begin[row]; i < matrix.row_begin[row + 1]; ++i) {
      sum += matrix.values[i] * Fr::from_integer(witness.values()[matrix.signals[i]]);
    }
    values.push_back(sum);
  }
  return values;
}

template <class Curve>
void check_synthesis(const std::filesystem::path& folder) {
  using Fr = typename Curve::Fr;
  const auto key = load_key(folder / "circuit.zkey");
  const R1cs r1cs = read_r1cs(folder / "circuit.r1cs").value();
  const auto& matrices = std::get<R1csMatrices<Fr>>(r1cs.matrices);
  const Witness witness = read_witness(folder / "witness.1.wtns", key->shape).value();
  kernels::ThreadPool threads(2);
  const ConstraintValues values = synthesize(*key, witness, {threads, kNotCancelled}).value();
  const auto& vectors = std::get<ConstraintVectors<Fr>>(values);
  LargeVector<Fr> a = plain_product(matrices.a, witness);
  LargeVector<Fr> b = plain_product(matrices.b, witness);
  const LargeVector<Fr> c = plain_product(matrices.c, witness);
  // After the constraints, a has the constant and the public signals.
  for (std::size_t i = 0; i <= key->shape.public_inputs; ++i) {
    a.push_back(Fr::from_integer(witness.values()[i]));
  }
  a.resize(key->shape.domain_size);
  b.resize(key->shape.domain_size);
  CHECK(vectors.a == a);
  CHECK(vectors.b == b);
  CHECK(std::equal(c.begin(), c.end(), vectors.c.begin()));
}

TEST_CASE("synthesis from the key agrees with the circuit's own constraints") {
  for (const char* circuit : {"multiplier", "demo", "sha256_round"}) {
    CAPTURE(circuit);
    check_synthesis<kernels::Bn254>(circuit_folder("bn128", circuit));
    check_synthesis<kernels::Bls12_381>(circuit_folder("bls12381", circuit));
  }
}

// Lagrange interpolation of values at w^i, evaluated at x: the sum of
// values[i] w^i (x^N - 1) / (N (x - w^i)).
template <class Fr>
Fr interpolate_at(const LargeVector<Fr>& values, const Fr& root, const Fr& x) {
  Fr sum;
  Fr power = Fr::one();
  Fr x_power = Fr::one();
  for (const Fr& value : values) {
    sum += value * power * (x - power).inverse();
    power *= root;
    x_power *= x;
  }
  return sum * (x_power - Fr::one()) * Fr::from_u64(values.size()).inverse();
}

template <class Curve>
void check_quotient(const std::filesystem::path& folder) {
  using Fr = typename Curve::Fr;
  const auto key = load_key(folder / "circuit.zkey");
  Witness witness = read_witness(folder / "witness.1.wtns", key->shape).value();
  kernels::ThreadPool threads(2);
  const StageContext context{threads, kNotCancelled};
  ConstraintValues values = synthesize(*key, witness, context).value();
  const auto vectors = std::get<ConstraintVectors<Fr>>(values);
  const StartedProof started =
      prove_start(*key, std::move(witness), std::move(values), context).value();
  const auto log2_size = static_cast<unsigned>(std::countr_zero(key->shape.domain_size));
  const Fr root = kernels::Domain<Fr>::root_of_unity(log2_size);
  Fr x = kernels::Domain<Fr>::root_of_unity(log2_size + 1);
  for (const ScalarInteger& scalar : started.quotient) {
    const Fr expected = interpolate_at(vectors.a, root, x) * interpolate_at(vectors.b, root, x) -
                        interpolate_at(vectors.c, root, x);
    REQUIRE(scalar == expected.to_integer());
    x *= root;
  }
}

TEST_CASE("the quotient's scalars are ab - c at the odd points of the double domain") {
  check_quotient<kernels::Bn254>(circuit_folder("bn128", "multiplier"));
  check_quotient<kernels::Bls12_381>(circuit_folder("bls12381", "multiplier"));
  check_quotient<kernels::Bn254>(circuit_folder("bn128", "demo"));
}

TEST_CASE("every stage ends as cancelled when it is cancelled") {
  const auto folder = circuit_folder("bn128", "demo");
  const auto key = load_key(folder / "circuit.zkey");
  kernels::ThreadPool threads(2);
  const std::atomic<bool> cancelled = true;
  const StageContext go_on{threads, kNotCancelled};
  const StageContext stop{threads, cancelled};
  CpuBackend backend;
  Witness witness = read_witness(folder / "witness.1.wtns", key->shape).value();
  CHECK(backend.synthesize(*key, witness, stop).error().error_class == ErrorClass::kCancelled);
  auto values = backend.synthesize(*key, witness, go_on).value();
  auto again = values;
  Witness copy({witness.values().begin(), witness.values().end()});
  CHECK(backend.prove_start(*key, std::move(copy), std::move(again), stop).error().error_class ==
        ErrorClass::kCancelled);
  auto started = backend.prove_start(*key, std::move(witness), std::move(values), go_on).value();
  CHECK(backend.prove_finish(*key, std::move(started), stop).error().error_class ==
        ErrorClass::kCancelled);
}

TEST_CASE("working bytes are what the vectors take") {
  const KeyShape shape =
      probe_proving_key(circuit_folder("bn128", "demo") / "circuit.zkey").value();
  const WorkingBytes bytes = working_bytes(shape, 2);
  CHECK(bytes.witness == 244 * 32);
  CHECK(bytes.constraint_values == 3 * 256 * 32);
  CHECK(bytes.quotient == 256 * 32);
  CHECK(bytes.total() == bytes.witness + bytes.constraint_values + bytes.quotient + bytes.scratch);
}

}  // namespace
}  // namespace vitrine::engine::testing
