// SPDX-License-Identifier: Apache-2.0
// Writes what proof_json.h describes. By hand, because the exact text is the format.
#include <span>
#include <type_traits>
#include <vector>

#include "engine/decimal.h"
#include "engine/proof_json.h"

namespace vitrine::engine {
namespace {

std::string json_string(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string indentation(unsigned depth) { return std::string(depth, ' '); }

// An array or object of finished items, itself at `depth`.
std::string bracketed(char open, const std::vector<std::string>& items, unsigned depth) {
  const char close = open == '[' ? ']' : '}';
  std::string text(1, open);
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "\n" : ",\n") + indentation(depth + 1) + items[i];
  }
  if (!items.empty()) text += '\n' + indentation(depth);
  return text + close;
}

std::string member(std::string_view name, const std::string& value) {
  return json_string(name) + ": " + value;
}

template <class Params>
std::string coordinate_text(const kernels::PrimeField<Params>& value, unsigned) {
  return json_string(to_decimal(value.to_integer()));
}

template <class Field>
std::string coordinate_text(const kernels::QuadraticExtension<Field>& value, unsigned depth) {
  return bracketed('[', {coordinate_text(value.c0, depth), coordinate_text(value.c1, depth)},
                   depth);
}

template <class Group>
std::string point_text(const kernels::AffinePoint<Group>& point, unsigned depth) {
  using Coordinate = typename Group::Coordinate;
  const bool infinite = point.is_infinity();
  return bracketed('[',
                   {coordinate_text(point.x, depth + 1),
                    coordinate_text(infinite ? Coordinate::one() : point.y, depth + 1),
                    coordinate_text(infinite ? Coordinate::zero() : Coordinate::one(), depth + 1)},
                   depth);
}

template <class Curve>
std::string proof_text(const ProofPoints<Curve>& proof) {
  return bracketed(
      '{',
      {member("pi_a", point_text(proof.a, 1)), member("pi_b", point_text(proof.b, 1)),
       member("pi_c", point_text(proof.c, 1)), member("protocol", json_string("groth16")),
       member("curve", json_string(Curve::kName))},
      0);
}

template <class Curve>
std::string verifying_key_text(const VerifyingPoints<Curve>& key) {
  std::vector<std::string> ic;
  for (const auto& point : key.ic) ic.push_back(point_text(point, 2));
  return bracketed(
      '{',
      {member("protocol", json_string("groth16")), member("curve", json_string(Curve::kName)),
       member("nPublic", std::to_string(key.ic.size() - 1)),
       member("vk_alpha_1", point_text(key.alpha1, 1)),
       member("vk_beta_2", point_text(key.beta2, 1)),
       member("vk_gamma_2", point_text(key.gamma2, 1)),
       member("vk_delta_2", point_text(key.delta2, 1)), member("IC", bracketed('[', ic, 1))},
      0);
}

}  // namespace

std::string proof_to_json(const Proof& proof) {
  return std::visit([](const auto& points) { return proof_text(points); }, proof);
}

std::string public_to_json(const PublicInputs& inputs) {
  std::vector<std::string> items;
  for (const ScalarInteger& value : inputs.values) items.push_back(json_string(to_decimal(value)));
  return bracketed('[', items, 0);
}

std::string verifying_key_to_json(const VerifyingKey& key) {
  return std::visit([](const auto& points) { return verifying_key_text(points); }, key);
}

}  // namespace vitrine::engine
