// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <random>

#include "engine/fixed_base.h"
#include "engine/key_generation.h"
#include "engine/random_scalar.h"
#include "engine/sha256_circuit.h"
#include "engine/synthetic_circuit.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;
using kernels::Bls12_381;
using kernels::Bn254;

TEST_CASE("development keys of the committed circuits prove their witnesses") {
  const ScratchFolder scratch;
  kernels::ThreadPool threads(2);
  for (const auto& folder : circuit_folders()) {
    CAPTURE(folder);
    const R1cs r1cs = read_r1cs(folder / "circuit.r1cs").value();
    const VerifyingKey key = write_development_key(scratch / "circuit.zkey", r1cs, threads).value();
    const KeyShape shape = probe_proving_key(scratch / "circuit.zkey").value();
    const KeyShape real = probe_proving_key(folder / "circuit.zkey").value();
    CHECK(shape.domain_size == real.domain_size);
    CHECK(shape.coefficients == real.coefficients);
    CHECK(shape.points_bytes == real.points_bytes);
    const MadeProof made = prove(*load_key(scratch / "circuit.zkey"), folder / "witness.1.wtns");
    CHECK(verify(key, made.proof, made.inputs).has_value());
  }
}

TEST_CASE("a development key says in its contribution section what it is") {
  const ScratchFolder scratch;
  kernels::ThreadPool threads(2);
  const auto folder = circuit_folder("bn128", "multiplier");
  const R1cs r1cs = read_r1cs(folder / "circuit.r1cs").value();
  REQUIRE(write_development_key(scratch / "circuit.zkey", r1cs, threads).has_value());
  CHECK_THAT(read_file(scratch / "circuit.zkey"), Contains("INSECURE development key"));
}

template <class Curve>
void check_synthetic(CircuitKind kind, unsigned log2_size) {
  using Fr = typename Curve::Fr;
  const ScratchFolder scratch;
  kernels::ThreadPool threads(2);
  const SyntheticCircuit circuit = build_synthetic_circuit<Fr>(kind, log2_size, 1);
  const SyntheticCircuit other = build_synthetic_circuit<Fr>(kind, log2_size, 2);
  CHECK(circuit.witness.size() == circuit.r1cs.shape.variables);
  CHECK(circuit.witness.size() == other.witness.size());
  CHECK(circuit.witness != other.witness);
  REQUIRE(write_development_key(scratch / "circuit.zkey", circuit.r1cs, threads).has_value());
  CHECK(probe_proving_key(scratch / "circuit.zkey").value().domain_size == 1U << log2_size);
  REQUIRE(write_witness(scratch / "1.wtns", kCurveId<Curve>, circuit.witness).has_value());
  REQUIRE(write_witness(scratch / "2.wtns", kCurveId<Curve>, other.witness).has_value());
  CHECK(prove_and_verify(scratch / "circuit.zkey", scratch / "1.wtns").has_value());
  CHECK(prove_and_verify(scratch / "circuit.zkey", scratch / "2.wtns").has_value());
}

TEST_CASE("synthetic circuits of every kind and their smallest size prove") {
  for (const CircuitKind kind :
       {CircuitKind::kChain, CircuitKind::kSha256, CircuitKind::kPoseidonLike}) {
    check_synthetic<Bn254>(kind, min_log2_size(kind));
    check_synthetic<Bls12_381>(kind, min_log2_size(kind));
    check_synthetic<Bn254>(kind, 10);
  }
}

TEST_CASE("the smallest circuit, one constraint and nothing public, proves") {
  using Fr = Bls12_381::Fr;
  CircuitBuilder<Fr> builder(0);
  const auto factor = builder.add_private_input(Fr::from_u64(3));
  static_cast<void>(builder.multiply(factor, factor));
  const auto witness = builder.witness();
  const R1cs r1cs = builder.take_r1cs();
  const ScratchFolder scratch;
  kernels::ThreadPool threads(2);
  REQUIRE(write_development_key(scratch / "circuit.zkey", r1cs, threads).has_value());
  CHECK(probe_proving_key(scratch / "circuit.zkey").value().domain_size == 2);
  REQUIRE(write_witness(scratch / "w.wtns", CurveId::kBls12_381, witness).has_value());
  CHECK(prove_and_verify(scratch / "circuit.zkey", scratch / "w.wtns").has_value());
}

template <class Fr>
std::array<std::uint32_t, 8> digest_of_abc() {
  CircuitBuilder<Fr> builder(0);
  Sha256Circuit<Fr> hash(builder);
  std::array<std::uint32_t, 16> block{};
  block[0] = 0x61626380;  // "abc" and the first padding bit
  block[15] = 24;         // the message's bits
  for (unsigned round = 0; round < kSha256Rounds; ++round) {
    const std::uint32_t before = builder.constraints();
    const std::uint32_t expected = hash.next_round_constraints();
    hash.run_round(block[round % 16]);
    CHECK(builder.constraints() - before == expected);
  }
  REQUIRE(hash.at_block_end());
  std::array<std::uint32_t, 8> digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const auto word = builder.value_of(Sha256Circuit<Fr>::packed(hash.state()[i]));
    digest[i] = static_cast<std::uint32_t>(word.to_integer()[0]);
  }
  return digest;
}

TEST_CASE("the SHA-256 circuit computes the digest of FIPS 180-4's example") {
  const std::array<std::uint32_t, 8> expected = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                                 0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
  CHECK(digest_of_abc<Bn254::Fr>() == expected);
  CHECK(digest_of_abc<Bls12_381::Fr>() == expected);
}

template <class Group>
void check_fixed_base() {
  using Scalar = typename Group::Scalar;
  kernels::ThreadPool threads(2);
  std::vector<Scalar> scalars = {Scalar::zero(), Scalar::one(), -Scalar::one()};
  while (scalars.size() < 40) scalars.push_back(random_scalar<Scalar>().value());
  for (const std::size_t expected : {1, 1000, 100000}) {
    const FixedBase<Group> base(Group::generator(), expected, threads);
    const auto points = base.multiples(scalars, threads);
    for (std::size_t i = 0; i < scalars.size(); ++i) {
      const auto reference = kernels::multiply(Group::generator(), scalars[i].to_integer());
      REQUIRE(points[i] == reference.to_affine());
    }
  }
}

TEST_CASE("multiples of a fixed base are those of double and add") {
  check_fixed_base<Bn254::G1>();
  check_fixed_base<Bls12_381::G2>();
}

TEST_CASE("domains are the size snarkjs chooses") {
  R1csShape shape;
  shape.outputs = 1;
  const auto log2_domain = [&](std::uint32_t constraints) {
    shape.constraints = constraints;
    return log2_domain_of(shape).value();
  };
  CHECK(log2_domain(1) == 2);  // 1 + 1 rows, and one for the constant
  CHECK(log2_domain(2) == 2);
  CHECK(log2_domain(3) == 3);
  CHECK(log2_domain(6) == 3);
  CHECK(log2_domain(7) == 4);
  shape.constraints = 1U << 28;
  CHECK_FALSE(log2_domain_of(shape).has_value());
}

}  // namespace
}  // namespace vitrine::engine::testing
