// SPDX-License-Identifier: Apache-2.0
#include "engine/proof_json.h"

#include <catch2/catch.hpp>
#include <random>

#include "engine/decimal.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/real_inputs.h"

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto position = text.find(from);
  REQUIRE(position != std::string::npos);
  return text.replace(position, from.size(), to);
}

TEST_CASE("proofs and public inputs are written byte for byte as snarkjs writes them") {
  for (const auto& folder : circuit_folders()) {
    CAPTURE(folder);
    const std::string proof = read_file(folder / "proof.json");
    const std::string inputs = read_file(folder / "public.json");
    CHECK(proof_to_json(parse_proof(proof).value()) == proof);
    CHECK(public_to_json(parse_public(inputs).value()) == inputs);
  }
  CHECK(public_to_json({}) == "[]");
}

TEST_CASE("a verifying key survives writing and parsing and equals the proving key's own") {
  for (const auto& folder : circuit_folders()) {
    CAPTURE(folder);
    const auto key = parse_verifying_key(read_file(folder / "verification_key.json")).value();
    const std::string text = verifying_key_to_json(key);
    CHECK(verifying_key_to_json(parse_verifying_key(text).value()) == text);
    CHECK(verifying_key_to_json(load_key(folder / "circuit.zkey")->verifying_key) == text);
  }
}

TEST_CASE("infinity is written and parsed with third coordinate 0") {
  ProofPoints<kernels::Bls12_381> points;
  points.a = kernels::Bls12_381::G1::generator();
  const std::string text = proof_to_json(points);
  const auto parsed = std::get<ProofPoints<kernels::Bls12_381>>(parse_proof(text).value());
  CHECK(parsed.a == points.a);
  CHECK(parsed.b.is_infinity());
  CHECK(parsed.c.is_infinity());
}

TEST_CASE("a proof that snarkjs would not write is refused with the field's name") {
  const std::string text = read_file(circuit_folder("bn128", "demo") / "proof.json");
  const auto refusal = [](const std::string& damaged) {
    auto proof = parse_proof(damaged);
    REQUIRE_FALSE(proof.has_value());
    CHECK(proof.error().error_class == ErrorClass::kBadInput);
    return proof.error().text;
  };
  CHECK_THAT(refusal(""), Contains("not JSON"));
  CHECK_THAT(refusal("[]"), Contains("not a JSON object"));
  CHECK_THAT(refusal(text.substr(0, text.size() / 2)), Contains("not JSON"));
  CHECK_THAT(refusal(replaced(text, "{", R"({"pi_a": [], )")), Contains("'pi_a' is given twice"));
  CHECK_THAT(refusal(replaced(text, "groth16", "plonk")), Contains("protocol"));
  CHECK_THAT(refusal(replaced(text, "bn128", "bn256")), Contains("curve"));
  CHECK_THAT(refusal(replaced(text, "pi_b", "pi_x")), Contains("pi_b"));
  CHECK_THAT(refusal(replaced(text, "\"1\"", "\"2\"")), Contains("pi_a: third coordinate"));
  CHECK_THAT(refusal(replaced(text, "\"1\"", "\"01\"")), Contains("pi_a: a coordinate"));
  CHECK_THAT(refusal(replaced(text, "\"1\"", "\"-1\"")), Contains("pi_a: a coordinate"));
  CHECK_THAT(refusal(replaced(text, "\"1\"", "\"0x1\"")), Contains("pi_a: a coordinate"));
  CHECK_THAT(refusal(replaced(text, "\"1\"", "1")), Contains("pi_a: a coordinate"));
  const std::string modulus = to_decimal(kernels::Bn254::Fq::modulus());
  CHECK_THAT(refusal(replaced(text, "\"1\"", '"' + modulus + '"')),
             Contains("below the field's modulus"));
  CHECK_THAT(refusal(replaced(text, "\"1\"", '"' + std::string(5000, '9') + '"')),
             Contains("pi_a: a coordinate"));
  CHECK_THAT(refusal(std::string(100000, '[')), Contains("not JSON"));
}

TEST_CASE("a proof that names no curve is of bn128, as other provers write it") {
  const auto folder = circuit_folder("bn128", "demo");
  const std::string text = read_file(folder / "proof.json");
  const std::string named_none = replaced(text, ",\n \"curve\": \"bn128\"", "");
  CHECK(proof_to_json(parse_proof(named_none).value()) == text);
}

TEST_CASE("public inputs that are no decimal strings are refused") {
  for (const char* text : {"{}", "[1]", "[\"\"]", "[\"1e3\"]", "[\" 1\"]", "[[\"1\"]]", "null"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_public(text).has_value());
  }
}

TEST_CASE("a verifying key that is not one is refused with the field's name") {
  const std::string text =
      read_file(circuit_folder("bls12381", "multiplier") / "verification_key.json");
  const auto refusal = [](const std::string& damaged) {
    auto key = parse_verifying_key(damaged);
    REQUIRE_FALSE(key.has_value());
    return key.error().text;
  };
  CHECK_THAT(refusal(replaced(text, "\"nPublic\": 1", "\"nPublic\": 2")), Contains("nPublic"));
  CHECK_THAT(refusal(replaced(text, "\"IC\"", "\"ID\"")), Contains("IC"));
  CHECK_THAT(refusal(replaced(text, "\"1\"", "\"0\"")), Contains("vk_alpha_1"));
  const auto digit = text.find('"', text.find("vk_alpha_1") + 12) + 3;
  std::string off_curve = text;
  off_curve[digit] = off_curve[digit] == '5' ? '6' : '5';
  CHECK_THAT(refusal(off_curve), Contains("vk_alpha_1: not on the curve"));
}

TEST_CASE("a damaged JSON text never crashes a parser") {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto folder = circuit_folder("bn128", "multiplier");
  const std::string proof = read_file(folder / "proof.json");
  const std::string key = read_file(folder / "verification_key.json");
  for (int i = 0; i < 300; ++i) {
    std::string damaged = i % 2 == 0 ? proof : key;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    if (random() % 4 == 0) damaged.resize(random() % damaged.size());
    CHECK((parse_proof(damaged).has_value() || !parse_proof(damaged).error().text.empty()));
    CHECK((parse_verifying_key(damaged).has_value() ||
           !parse_verifying_key(damaged).error().text.empty()));
    static_cast<void>(parse_public(damaged).has_value());
  }
}

TEST_CASE("decimals convert both ways") {
  using Limbs = std::array<std::uint64_t, 4>;
  const std::pair<const char*, Limbs> examples[] = {
      {"0", {}},
      {"10", {10}},
      {"1000000000", {1000000000}},
      {"18446744073709551615", {~std::uint64_t{0}}},
      {"18446744073709551616", {0, 1}},
      {"340282366920938463463374607431768211456", {0, 0, 1}},
  };
  for (const auto& [text, limbs] : examples) {
    CHECK(to_decimal(limbs) == text);
    Limbs parsed{1, 2, 3, 4};
    CHECK(from_decimal(text, parsed));
    CHECK(parsed == limbs);
  }
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; ++i) {
    const Limbs limbs = {random(), random(), random() >> random() % 64, random() >> random() % 64};
    Limbs parsed;
    REQUIRE(from_decimal(to_decimal(limbs), parsed));
    CHECK(parsed == limbs);
  }
  Limbs limbs;
  CHECK_FALSE(
      from_decimal("115792089237316195423570985008687907853269984665640564039457584007913"
                   "129639936",
                   limbs));
  for (const char* text : {"", "00", "01", "+1", "-1", "1 ", "0x1", "1.0"}) {
    CHECK_FALSE(from_decimal(text, limbs));
  }
}

}  // namespace
}  // namespace vitrine::engine::testing
