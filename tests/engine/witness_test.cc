// SPDX-License-Identifier: Apache-2.0
#include "engine/witness.h"

#include <catch2/catch.hpp>
#include <random>

#include "engine/proof_json.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

KeyShape shape_of(const std::filesystem::path& folder) {
  return probe_proving_key(folder / "circuit.zkey").value();
}

std::string refusal(const ContainerBytes& bytes, const KeyShape& shape) {
  const ScratchFolder scratch;
  bytes.write(scratch / "damaged.wtns");
  auto witness = read_witness(scratch / "damaged.wtns", shape);
  REQUIRE_FALSE(witness.has_value());
  CHECK(witness.error().error_class == ErrorClass::kBadInput);
  CHECK_THAT(witness.error().text, Contains("damaged.wtns: "));
  return witness.error().text;
}

TEST_CASE("a witness has the public signals snarkjs found in it") {
  for (const auto& folder : circuit_folders()) {
    CAPTURE(folder);
    const KeyShape shape = shape_of(folder);
    auto witness = read_witness(folder / "witness.1.wtns", shape);
    REQUIRE(witness.has_value());
    CHECK(witness->values().size() == shape.variables);
    CHECK(public_to_json(public_inputs_of(*witness, shape)) == read_file(folder / "public.json"));
  }
}

TEST_CASE("a witness of another curve or circuit is refused") {
  const auto folder = circuit_folder("bn128", "demo");
  CHECK_THAT(
      refusal(ContainerBytes(circuit_folder("bls12381", "demo") / "witness.0.wtns"),
              shape_of(folder)),
      Contains("field prime is not that of the circuit's curve, bn128, but that of bls12381"));
  CHECK_THAT(refusal(ContainerBytes(circuit_folder("bn128", "multiplier") / "witness.0.wtns"),
                     shape_of(folder)),
             Contains("4 values, expected the circuit's 244"));
}

TEST_CASE("a witness with values that cannot be is refused") {
  const auto folder = circuit_folder("bn128", "demo");
  const KeyShape shape = shape_of(folder);
  ContainerBytes witness(folder / "witness.1.wtns");
  const std::size_t values = witness.section(2).begin;
  SECTION("value 0 is not 1") {
    witness.put(values, std::uint64_t{2});
    CHECK_THAT(refusal(witness, shape), Contains("value 0 is not 1"));
  }
  SECTION("not canonical") {
    witness.put(values + 32, kernels::Bn254::Fr::modulus());
    CHECK_THAT(refusal(witness, shape), Contains("not below the field prime"));
  }
  SECTION("count does not fit the section") {
    witness.truncate(witness.size() - 32);
    witness.put(witness.section(2).header + 4, std::uint64_t{243 * 32});
    CHECK_THAT(refusal(witness, shape), Contains("expected 7808"));
  }
  SECTION("a huge count") {
    witness.put(witness.section(1).begin + 36, std::uint32_t{0xffffffff});
    CHECK_THAT(refusal(witness, shape), Contains("4294967295 values"));
  }
}

TEST_CASE("a witness cut off anywhere is refused") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto folder = circuit_folder("bls12381", "demo");
  const KeyShape shape = shape_of(folder);
  const ContainerBytes whole(folder / "witness.1.wtns");
  for (const SectionPlace& place : whole.sections()) {
    for (const std::size_t size : {place.header, place.begin, place.end - 1}) {
      ContainerBytes cut = whole;
      cut.truncate(size);
      refusal(cut, shape);
    }
  }
  for (int i = 0; i < 100; ++i) {
    ContainerBytes cut = whole;
    cut.truncate(random() % whole.size());
    refusal(cut, shape);
  }
}

TEST_CASE("a flipped bit in a witness gives an error or a proof that does not verify") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const ScratchFolder scratch;
  const auto folder = circuit_folder("bn128", "multiplier");
  const ContainerBytes whole(folder / "witness.1.wtns");
  for (int i = 0; i < 40; ++i) {
    ContainerBytes damaged = whole;
    const std::size_t bit = random() % (8 * whole.size());
    damaged.flip_bit(bit);
    CAPTURE(bit);
    damaged.write(scratch / "damaged.wtns");
    CHECK_FALSE(prove_and_verify(folder / "circuit.zkey", scratch / "damaged.wtns").has_value());
  }
}

TEST_CASE("a written witness reads back") {
  const ScratchFolder scratch;
  for (const auto& folder : circuit_folders()) {
    const KeyShape shape = shape_of(folder);
    const Witness witness = read_witness(folder / "witness.1.wtns", shape).value();
    REQUIRE(write_witness(scratch / "copy.wtns", shape.curve, witness.values()).has_value());
    CHECK(read_file(scratch / "copy.wtns") == read_file(folder / "witness.1.wtns"));
  }
}

}  // namespace
}  // namespace vitrine::engine::testing
