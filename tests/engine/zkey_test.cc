// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <random>

#include "engine/proving_key.h"
#include "kernels/subgroup.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"
#include "tests/scratch_folder.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

Result<std::shared_ptr<const ProvingKey>> load(const std::filesystem::path& path) {
  kernels::ThreadPool threads(2);
  return load_proving_key(path, {}, threads);
}

// The text of the one-line error that a damaged key gives.
std::string refusal(const ContainerBytes& bytes) {
  const ScratchFolder scratch;
  bytes.write(scratch / "damaged.zkey");
  auto key = load(scratch / "damaged.zkey");
  REQUIRE_FALSE(key.has_value());
  CHECK(key.error().error_class == ErrorClass::kBadInput);
  CHECK_THAT(key.error().text, Contains("damaged.zkey: "));
  CHECK(key.error().text.find('\n') == std::string::npos);
  return key.error().text;
}

ContainerBytes demo_key(const std::string& curve) {
  return ContainerBytes(circuit_folder(curve, "demo") / "circuit.zkey");
}

constexpr std::size_t kCountsOffset = 4 + 32 + 4 + 32;  // bn128, within section 2

TEST_CASE("the key of every committed circuit loads with the shape it was made with") {
  for (const auto& folder : circuit_folders()) {
    CAPTURE(folder);
    auto key = load(folder / "circuit.zkey");
    REQUIRE(key.has_value());
    const KeyShape& shape = (*key)->shape;
    const bool is_demo = folder.filename() == "demo";
    CHECK(curve_name(shape.curve) == folder.parent_path().filename().string());
    if (is_demo) {
      CHECK(shape.variables == 244);
      CHECK(shape.public_inputs == 2);
      CHECK(shape.domain_size == 256);
    }
    CHECK(probe_proving_key(folder / "circuit.zkey").value().points_bytes == shape.points_bytes);
  }
}

TEST_CASE("a key without a phase-2 contribution is refused unless insecure is set") {
  for (const std::string curve : {"bn128", "bls12381"}) {
    const auto path = circuit_folder(curve, "multiplier") / "circuit_0000.zkey";
    kernels::ThreadPool threads(1);
    auto refused = load_proving_key(path, {}, threads);
    REQUIRE_FALSE(refused.has_value());
    CHECK_THAT(refused.error().text, Contains("no phase-2 contribution"));
    ProvingKeyOptions options;
    options.insecure = true;
    CHECK(load_proving_key(path, options, threads).has_value());
  }
}

TEST_CASE("loading tells its progress up to the whole file but its headers") {
  const auto path = circuit_folder("bn128", "demo") / "circuit.zkey";
  std::uint64_t last_bytes = 0;
  std::uint64_t all_bytes = 0;
  ProvingKeyOptions options;
  options.progress = [&](const LoadedBytes& loaded) {
    CHECK(loaded.done() >= last_bytes);
    last_bytes = loaded.done();
    all_bytes = loaded.total();
  };
  kernels::ThreadPool threads(2);
  REQUIRE(load_proving_key(path, options, threads).has_value());
  CHECK(all_bytes == std::filesystem::file_size(path));
  CHECK(last_bytes <= all_bytes);
  CHECK(last_bytes > all_bytes * 9 / 10);
}

TEST_CASE("a key cut off at or beside any section boundary is refused") {
  const ContainerBytes whole = demo_key("bn128");
  for (const SectionPlace& place : whole.sections()) {
    for (const std::size_t size :
         {place.header, place.header + 1, place.begin, place.begin + 1, place.end - 1}) {
      ContainerBytes cut = whole;
      cut.truncate(size);
      refusal(cut);
    }
  }
  for (const std::size_t size : {0, 3, 4, 11}) {
    ContainerBytes cut = whole;
    cut.truncate(size);
    refusal(cut);
  }
}

TEST_CASE("a key cut off anywhere is refused") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const ContainerBytes whole = demo_key("bls12381");
  for (int i = 0; i < 100; ++i) {
    ContainerBytes cut = whole;
    cut.truncate(random() % whole.size());
    refusal(cut);
  }
}

TEST_CASE("a flipped bit gives one clear error, or no wrong proof") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const ScratchFolder scratch;
  for (const std::string curve : {"bn128", "bls12381"}) {
    const auto folder = circuit_folder(curve, "multiplier");
    const auto key = load_key(folder / "circuit.zkey");
    const ContainerBytes whole(folder / "circuit.zkey");
    for (int i = 0; i < 150; ++i) {
      ContainerBytes damaged = whole;
      const std::size_t bit = random() % (8 * whole.size());
      damaged.flip_bit(bit);
      CAPTURE(curve, bit);
      damaged.write(scratch / "damaged.zkey");
      auto made = prove_and_verify(scratch / "damaged.zkey", folder / "witness.1.wtns");
      if (!made) CHECK_FALSE(made.error().text.empty());
    }
  }
}

TEST_CASE("a small file that asks for gigabytes is refused before they are allocated") {
  ContainerBytes key(circuit_folder("bn128", "multiplier") / "circuit.zkey");
  const std::size_t counts = key.section(2).begin + kCountsOffset;
  SECTION("variables") {
    key.put(counts, std::uint32_t{0x7fffffff});
    CHECK_THAT(refusal(key), Contains("expected 137438953408"));
  }
  SECTION("more variables than an MSM takes") {
    key.put(counts, std::uint32_t{0xffffffff});
    CHECK_THAT(refusal(key), Contains("4294967295 variables"));
  }
  SECTION("public inputs") {
    key.put(counts, std::uint32_t{0x7fffffff});
    key.put(counts + 4, std::uint32_t{0x7ffffffe});
    CHECK_THAT(refusal(key), Contains("section 3"));
  }
  SECTION("domain") {
    key.put(counts + 8, std::uint32_t{1} << 28);
    CHECK_THAT(refusal(key), Contains("section 9"));
  }
  SECTION("coefficients") {
    key.put(key.section(4).begin, std::uint32_t{0xffffffff});
    CHECK_THAT(refusal(key), Contains("4294967295 coefficients"));
  }
  SECTION("a section") {
    key.put(key.section(5).header + 4, ~std::uint64_t{0});
    CHECK_THAT(refusal(key), Contains("18446744073709551615 bytes"));
  }
  SECTION("sections") {
    key.put(8, std::uint32_t{0xffffffff});
    CHECK_THAT(refusal(key), Contains("4294967295 sections"));
  }
}

TEST_CASE("a header whose numbers make no sense is refused") {
  ContainerBytes key = demo_key("bn128");
  const std::size_t header = key.section(2).begin;
  SECTION("foreign coordinate field") {
    key.flip_bit(8 * (header + 5));
    CHECK_THAT(refusal(key), Contains("coordinate field"));
  }
  SECTION("foreign scalar field") {
    key.flip_bit(8 * (header + 4 + 32 + 4 + 5));
    CHECK_THAT(refusal(key), Contains("scalar field"));
  }
  SECTION("coordinate size") {
    key.put(header, std::uint32_t{64});
    CHECK_THAT(refusal(key), Contains("coordinates of 64 bytes"));
  }
  SECTION("more public inputs than variables") {
    key.put(header + kCountsOffset + 4, std::uint32_t{244});
    CHECK_THAT(refusal(key), Contains("244 public inputs"));
  }
  SECTION("domain no power of two") {
    key.put(header + kCountsOffset + 8, std::uint32_t{255});
    CHECK_THAT(refusal(key), Contains("domain size 255"));
  }
  SECTION("domain too large") {
    key.put(header + kCountsOffset + 8, std::uint32_t{1} << 29);
    CHECK_THAT(refusal(key), Contains("2^28"));
  }
  SECTION("another protocol") {
    key.put(key.section(1).begin, std::uint32_t{2});
    CHECK_THAT(refusal(key), Contains("protocol 2"));
  }
  SECTION("another version") {
    key.put(4, std::uint32_t{2});
    CHECK_THAT(refusal(key), Contains("version 2"));
  }
}

TEST_CASE("missing, doubled and trailing sections are refused") {
  ContainerBytes key = demo_key("bn128");
  SECTION("missing") {
    key.put(key.section(8).header, std::uint32_t{11});
    CHECK_THAT(refusal(key), Contains("section 8: is missing"));
  }
  SECTION("doubled") {
    key.put(key.section(10).header, std::uint32_t{5});
    CHECK_THAT(refusal(key), Contains("section 5: is there twice"));
  }
  SECTION("bytes after the last") {
    key.append("more");
    CHECK_THAT(refusal(key), Contains("4 bytes after its last section"));
  }
}

TEST_CASE("a coefficient out of range is refused") {
  ContainerBytes key = demo_key("bn128");
  const std::size_t entry = key.section(4).begin + 4;
  SECTION("matrix") {
    key.put(entry, std::uint32_t{2});
    CHECK_THAT(refusal(key), Contains("coefficient 0: matrix 2"));
  }
  SECTION("constraint") {
    key.put(entry + 4, std::uint32_t{256});
    CHECK_THAT(refusal(key), Contains("constraint 256"));
  }
  SECTION("signal") {
    key.put(entry + 8, std::uint32_t{244});
    CHECK_THAT(refusal(key), Contains("signal 244"));
  }
  SECTION("value") {
    key.put(entry + 12, kernels::Bn254::Fr::modulus());
    CHECK_THAT(refusal(key), Contains("below the modulus"));
  }
}

TEST_CASE("a point off its curve is refused in every section") {
  for (const std::string curve : {"bn128", "bls12381"}) {
    for (const std::uint32_t section : {3, 5, 6, 7, 8, 9}) {
      CAPTURE(curve, section);
      ContainerBytes key = demo_key(curve);
      // The first point with a value, one bit changed low in its x.
      std::size_t position = key.section(section).begin;
      while (key[position] == 0 && key[position + 1] == 0) ++position;
      key.flip_bit(8 * position);
      CHECK_THAT(refusal(key), Contains("section " + std::to_string(section) + ": point"));
    }
  }
}

TEST_CASE("a coordinate at or above the modulus is refused") {
  ContainerBytes key = demo_key("bn128");
  key.put(key.section(9).begin, kernels::Bn254::Fq::modulus());
  CHECK_THAT(refusal(key), Contains("section 9: point 0 is not below the modulus"));
}

TEST_CASE("a header point at infinity is refused") {
  ContainerBytes key = demo_key("bn128");
  const std::size_t alpha = key.section(2).begin + kCountsOffset + 12;
  key.put(alpha, std::array<char, 64>{});
  CHECK_THAT(refusal(key), Contains("alpha1 is the point at infinity"));
}

// y^2 = x^3 + 4 has points outside the subgroup of order r: nearly all.
kernels::AffinePoint<kernels::Bls12_381::G1> point_outside_subgroup() {
  using Fq = kernels::Bls12_381::Fq;
  auto exponent = Fq::modulus();  // (q + 1) / 4 gives square roots, as q = 3 mod 4
  ++exponent[0];
  for (std::size_t i = 0; i < exponent.size(); ++i) {
    exponent[i] = exponent[i] >> 2 | (i + 1 < exponent.size() ? exponent[i + 1] << 62 : 0);
  }
  for (std::uint64_t x = 1;; ++x) {
    kernels::AffinePoint<kernels::Bls12_381::G1> point;
    point.x = Fq::from_u64(x);
    point.y = (point.x.squared() * point.x + Fq::from_u64(4)).pow(exponent);
    if (kernels::is_on_curve(point) && !kernels::is_in_subgroup(point)) return point;
  }
}

TEST_CASE("header and IC points outside the subgroup are refused") {
  const auto point = point_outside_subgroup();
  ContainerBytes key = demo_key("bls12381");
  SECTION("header") {
    const std::size_t alpha = key.section(2).begin + 4 + 48 + 4 + 32 + 12;
    key.put(alpha, point.x.montgomery());
    key.put(alpha + 48, point.y.montgomery());
    CHECK_THAT(refusal(key), Contains("alpha1 is not in the subgroup"));
  }
  SECTION("IC") {
    const std::size_t second = key.section(3).begin + 96;
    key.put(second, point.x.montgomery());
    key.put(second + 48, point.y.montgomery());
    CHECK_THAT(refusal(key), Contains("section 3: point 1 is not in the subgroup"));
  }
}

TEST_CASE("what is no key file at all is refused") {
  const ScratchFolder scratch;
  CHECK_THAT(load(scratch / "absent.zkey").error().text, Contains("cannot be opened"));
  CHECK_THAT(load(scratch.path()).error().text, Contains("not a regular file"));
  CHECK_THAT(load("/dev/zero").error().text, Contains("not a regular file"));
  const auto witness = circuit_folder("bn128", "demo") / "witness.0.wtns";
  CHECK_THAT(load(witness).error().text, Contains("not a zkey file"));
}

}  // namespace
}  // namespace vitrine::engine::testing
