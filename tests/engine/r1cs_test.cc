// SPDX-License-Identifier: Apache-2.0
#include "engine/r1cs.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

Result<R1cs> read_damaged(const ContainerBytes& bytes) {
  const ScratchFolder scratch;
  bytes.write(scratch / "damaged.r1cs");
  return read_r1cs(scratch / "damaged.r1cs");
}

std::string refusal(const ContainerBytes& bytes) {
  auto r1cs = read_damaged(bytes);
  REQUIRE_FALSE(r1cs.has_value());
  CHECK(r1cs.error().error_class == ErrorClass::kBadInput);
  CHECK_THAT(r1cs.error().text, Contains("damaged.r1cs: "));
  return r1cs.error().text;
}

template <class Fr>
bool is_same(const ConstraintMatrix<Fr>& a, const ConstraintMatrix<Fr>& b) {
  return a.row_begin == b.row_begin && a.signals == b.signals && a.values == b.values;
}

TEST_CASE("the constraints circom wrote are read") {
  for (const auto& folder : circuit_folders()) {
    CAPTURE(folder);
    auto r1cs = read_r1cs(folder / "circuit.r1cs");
    REQUIRE(r1cs.has_value());
    CHECK(curve_name(curve_of(*r1cs)) == folder.parent_path().filename().string());
    const KeyShape key = probe_proving_key(folder / "circuit.zkey").value();
    CHECK(r1cs->shape.variables == key.variables);
    CHECK(r1cs->shape.public_signals() == key.public_inputs);
    CHECK(r1cs->shape.constraints < key.domain_size);
  }
}

TEST_CASE("written constraints read back the same") {
  const ScratchFolder scratch;
  for (const auto& folder : circuit_folders()) {
    const R1cs first = read_r1cs(folder / "circuit.r1cs").value();
    REQUIRE(write_r1cs(scratch / "copy.r1cs", first).has_value());
    const R1cs second = read_r1cs(scratch / "copy.r1cs").value();
    CHECK(first.shape.variables == second.shape.variables);
    CHECK(first.shape.private_inputs == second.shape.private_inputs);
    std::visit(
        [&](const auto& matrices) {
          const auto& copy = std::get<std::decay_t<decltype(matrices)>>(second.matrices);
          CHECK(is_same(matrices.a, copy.a));
          CHECK(is_same(matrices.b, copy.b));
          CHECK(is_same(matrices.c, copy.c));
        },
        first.matrices);
  }
}

TEST_CASE("hostile counts in a constraint file are refused") {
  ContainerBytes file(circuit_folder("bn128", "multiplier") / "circuit.r1cs");
  const std::size_t header = file.section(1).begin;
  SECTION("constraints") {
    file.put(header + 4 + 32 + 16 + 8, std::uint32_t{0xffffffff});
    CHECK_THAT(refusal(file), Contains("4294967295 constraints"));
  }
  SECTION("terms") {
    file.put(file.section(2).begin, std::uint32_t{0xffffffff});
    CHECK_THAT(refusal(file), Contains("4294967295 terms"));
  }
  SECTION("named signals") {
    file.put(header + 36 + 4, std::uint32_t{0xffffffff});
    CHECK_THAT(refusal(file), Contains("variables, expected at least"));
  }
  SECTION("signal") {
    file.put(file.section(2).begin + 4, std::uint32_t{4});
    CHECK_THAT(refusal(file), Contains("signal 4"));
  }
  SECTION("prime") {
    file.flip_bit(8 * (header + 6));
    CHECK_THAT(refusal(file), Contains("field prime"));
  }
}

TEST_CASE("a damaged constraint file never crashes the reader") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const std::string curve : {"bn128", "bls12381"}) {
    const ContainerBytes whole(circuit_folder(curve, "multiplier") / "circuit.r1cs");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      ContainerBytes cut = whole;
      cut.truncate(size);
      refusal(cut);
    }
    for (int i = 0; i < 500; ++i) {
      ContainerBytes damaged = whole;
      damaged.flip_bit(random() % (8 * whole.size()));
      auto r1cs = read_damaged(damaged);
      if (!r1cs) CHECK_FALSE(r1cs.error().text.empty());
    }
  }
}

}  // namespace
}  // namespace vitrine::engine::testing
