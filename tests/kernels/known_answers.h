// SPDX-License-Identifier: Apache-2.0
// Reads tests/data/known_answers/*.json, answers computed by libraries that are not ours. Numbers
// are decimal strings; an element of Fq2 is [c0, c1]; infinity has both coordinates 0.
#pragma once

#include <boost/json.hpp>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/bls12_381.h"
#include "kernels/bn254.h"
#include "kernels/curve_point.h"
#include "tests/kernels/big_integer.h"

namespace vitrine::tests {

template <class Curve>
boost::json::object known_answers() {
  const bool is_bn254 = std::is_same_v<Curve, kernels::Bn254>;
  const std::string path = std::string(VITRINE_TEST_DATA) + "/known_answers/" +
                           (is_bn254 ? "bn254.json" : "bls12381.json");
  std::ifstream file(path);
  if (!file) throw std::runtime_error("known answers are missing: " + path);
  std::stringstream text;
  text << file.rdbuf();
  return boost::json::parse(text.str()).as_object();
}

template <class Limbs>
Limbs parse_limbs(const boost::json::value& decimal) {
  return to_fixed_limbs<Limbs>(BigInteger(boost::json::value_to<std::string>(decimal)));
}

template <class Field>
Field parse_field(const boost::json::value& value) {
  if constexpr (requires { typename Field::Limbs; }) {
    return Field::from_integer(parse_limbs<typename Field::Limbs>(value));
  } else {
    using Base = typename Field::BaseField;
    return {parse_field<Base>(value.as_array().at(0)), parse_field<Base>(value.as_array().at(1))};
  }
}

template <class Group>
kernels::AffinePoint<Group> parse_point(const boost::json::value& x, const boost::json::value& y) {
  using Coordinate = typename Group::Coordinate;
  return {parse_field<Coordinate>(x), parse_field<Coordinate>(y)};
}

}  // namespace vitrine::tests
