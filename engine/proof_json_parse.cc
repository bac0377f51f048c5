// SPDX-License-Identifier: Apache-2.0
// Parses what proof_json.h describes.
#include <boost/json.hpp>
#include <optional>

#include "engine/decimal.h"
#include "engine/proof_json.h"
#include "kernels/subgroup.h"
#include "shm/strict_json.h"

namespace vitrine::engine {
namespace {

namespace json = boost::json;

Result<json::value> parse_json(std::string_view text) {
  if (text.size() > kMaxJsonBytes) {
    return bad_input(std::to_string(text.size()) + " bytes, expected at most " +
                     std::to_string(kMaxJsonBytes));
  }
  constexpr std::size_t kDepthMax = 8;  // a verifying key's vk_alphabeta_12 has 4
  auto value = shm::parse_strict_json(text, kDepthMax);
  if (!value) return bad_input(value.error().text);
  return std::move(*value);
}

Result<json::object> parse_object(std::string_view text) {
  auto value = parse_json(text);
  if (!value) return value.error();
  if (!value->is_object()) return bad_input("not a JSON object");
  return std::move(value->get_object());
}

Error wrong(std::string_view name, std::string_view rule) {
  return bad_input(std::string(name) + ": " + std::string(rule));
}

template <class Params>
bool parse_coordinate(const json::value& value, kernels::PrimeField<Params>& coordinate) {
  using Field = kernels::PrimeField<Params>;
  const json::string* text = value.if_string();
  typename Field::Limbs limbs;
  if (text == nullptr || !from_decimal(*text, limbs) || !Field::is_canonical(limbs)) return false;
  coordinate = Field::from_integer(limbs);
  return true;
}

template <class Field>
bool parse_coordinate(const json::value& value, kernels::QuadraticExtension<Field>& coordinate) {
  const json::array* parts = value.if_array();
  return parts != nullptr && parts->size() == 2 && parse_coordinate((*parts)[0], coordinate.c0) &&
         parse_coordinate((*parts)[1], coordinate.c1);
}

template <class Group>
Result<kernels::AffinePoint<Group>> parse_point(const json::value* value, std::string_view name) {
  using Coordinate = typename Group::Coordinate;
  const json::array* parts = value == nullptr ? nullptr : value->if_array();
  if (parts == nullptr || parts->size() != 3) return wrong(name, "not an array of 3 coordinates");
  kernels::AffinePoint<Group> point;
  Coordinate z;
  if (!parse_coordinate((*parts)[0], point.x) || !parse_coordinate((*parts)[1], point.y) ||
      !parse_coordinate((*parts)[2], z)) {
    return wrong(name, "a coordinate is not a decimal string below the field's modulus");
  }
  if (z == Coordinate::zero()) return kernels::AffinePoint<Group>::infinity();
  if (z != Coordinate::one()) return wrong(name, "third coordinate is neither 1 nor 0");
  return point;
}

template <class Group>
Result<void> parse_key_point(const json::value* value, std::string_view name,
                             kernels::AffinePoint<Group>& point) {
  auto parsed = parse_point<Group>(value, name);
  if (!parsed) return parsed.error();
  if (!kernels::is_on_curve(*parsed)) return wrong(name, "not on the curve");
  if (!kernels::is_in_subgroup(*parsed)) return wrong(name, "not in the subgroup");
  point = *parsed;
  return {};
}

template <class Group>
Result<void> parse_finite_key_point(const json::object& object, std::string_view name,
                                    kernels::AffinePoint<Group>& point) {
  auto parsed = parse_key_point(object.if_contains(name), name, point);
  if (parsed && point.is_infinity()) return wrong(name, "the point at infinity");
  return parsed;
}

std::string_view text_member(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  const json::string* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

// The curve of an object that says it is of the groth16 protocol. Provers that know one curve leave
// it out, and that is bn128.
Result<CurveId> parse_curve(const json::object& object) {
  if (text_member(object, "protocol") != "groth16")
    return wrong("protocol", "expected \"groth16\"");
  if (!object.contains("curve")) return CurveId::kBn254;
  const auto curve = curve_from_name(text_member(object, "curve"));
  if (!curve) return wrong("curve", "expected \"bn128\" or \"bls12381\"");
  return *curve;
}

template <class Curve>
Result<Proof> parse_proof_points(const json::object& object) {
  auto a = parse_point<typename Curve::G1>(object.if_contains("pi_a"), "pi_a");
  if (!a) return a.error();
  auto b = parse_point<typename Curve::G2>(object.if_contains("pi_b"), "pi_b");
  if (!b) return b.error();
  auto c = parse_point<typename Curve::G1>(object.if_contains("pi_c"), "pi_c");
  if (!c) return c.error();
  return Proof(ProofPoints<Curve>{*a, *b, *c});
}

template <class Curve>
Result<void> parse_ic(const json::object& object, VerifyingPoints<Curve>& key) {
  const json::value* value = object.if_contains("IC");
  const json::array* ic = value == nullptr ? nullptr : value->if_array();
  if (ic == nullptr || ic->empty()) return wrong("IC", "not an array of points");
  const json::value* count = object.if_contains("nPublic");
  if (count == nullptr || !count->is_int64() ||
      count->get_int64() != static_cast<std::int64_t>(ic->size()) - 1) {
    return wrong("nPublic",
                 "expected one less than the " + std::to_string(ic->size()) + " points of IC");
  }
  key.ic.resize(ic->size());
  for (std::size_t i = 0; i < ic->size(); ++i) {
    auto parsed = parse_key_point(&(*ic)[i], "IC[" + std::to_string(i) + "]", key.ic[i]);
    if (!parsed) return parsed;
  }
  return {};
}

template <class Curve>
Result<VerifyingKey> parse_verifying_points(const json::object& object) {
  VerifyingPoints<Curve> key;
  Result<void> parsed = parse_finite_key_point(object, "vk_alpha_1", key.alpha1);
  if (parsed) parsed = parse_finite_key_point(object, "vk_beta_2", key.beta2);
  if (parsed) parsed = parse_finite_key_point(object, "vk_gamma_2", key.gamma2);
  if (parsed) parsed = parse_finite_key_point(object, "vk_delta_2", key.delta2);
  if (parsed) parsed = parse_ic(object, key);
  if (!parsed) return parsed.error();
  return VerifyingKey(std::move(key));
}

}  // namespace

Result<Proof> parse_proof(std::string_view text) {
  auto object = parse_object(text);
  if (!object) return object.error();
  auto id = parse_curve(*object);
  if (!id) return id.error();
  return with_curve(
      *id, [&](auto curve) { return parse_proof_points<typename decltype(curve)::type>(*object); });
}

Result<PublicInputs> parse_public(std::string_view text) {
  auto value = parse_json(text);
  if (!value) return value.error();
  const json::array* array = value->if_array();
  if (array == nullptr) return bad_input("not a JSON array");
  PublicInputs inputs;
  for (const json::value& item : *array) {
    const json::string* number = item.if_string();
    ScalarInteger integer;
    if (number == nullptr || !from_decimal(*number, integer)) {
      return bad_input("public input " + std::to_string(inputs.values.size()) +
                       " is not a decimal string below 2^256");
    }
    inputs.values.push_back(integer);
  }
  return inputs;
}

Result<VerifyingKey> parse_verifying_key(std::string_view text) {
  auto object = parse_object(text);
  if (!object) return object.error();
  auto id = parse_curve(*object);
  if (!id) return id.error();
  return with_curve(*id, [&](auto curve) {
    return parse_verifying_points<typename decltype(curve)::type>(*object);
  });
}

}  // namespace vitrine::engine
