// SPDX-License-Identifier: Apache-2.0
// The verifier: e(A, B) = e(alpha, beta) e(IC(x), gamma) e(C, delta).
#include <array>
#include <string>

#include "engine/groth16.h"
#include "kernels/pairing.h"
#include "kernels/subgroup.h"

namespace vitrine::engine {
namespace {

template <class Group>
bool is_valid_point(const kernels::AffinePoint<Group>& point) {
  return kernels::is_on_curve(point) && kernels::is_in_subgroup(point);
}

template <class Curve>
Result<void> check_public_inputs(const VerifyingPoints<Curve>& key, const PublicInputs& inputs) {
  if (inputs.values.size() + 1 != key.ic.size()) {
    return bad_input(std::to_string(inputs.values.size()) + " public inputs, expected " +
                     std::to_string(key.ic.size() - 1));
  }
  for (std::size_t i = 0; i < inputs.values.size(); ++i) {
    if (Curve::Fr::is_canonical(inputs.values[i])) continue;
    return bad_input("public input " + std::to_string(i) + " is not below the field prime");
  }
  return {};
}

template <class Curve>
kernels::AffinePoint<typename Curve::G1> public_input_point(const VerifyingPoints<Curve>& key,
                                                            const PublicInputs& inputs) {
  auto sum = kernels::XyzzPoint<typename Curve::G1>::from_affine(key.ic.front());
  for (std::size_t i = 0; i < inputs.values.size(); ++i) {
    sum.add(kernels::multiply(key.ic[i + 1], inputs.values[i]));
  }
  return sum.to_affine();
}

template <class Curve>
Result<void> verify_on(const VerifyingPoints<Curve>& key, const ProofPoints<Curve>& proof,
                       const PublicInputs& inputs) {
  if (auto checked = check_public_inputs(key, inputs); !checked) return checked.error();
  if (!is_valid_point(proof.a) || !is_valid_point(proof.b) || !is_valid_point(proof.c)) {
    return bad_input("a point of the proof is not in its group");
  }
  const std::array<kernels::PairingTerm<Curve>, 4> terms = {{
      {proof.a, proof.b},
      {key.alpha1.negated(), key.beta2},
      {public_input_point(key, inputs).negated(), key.gamma2},
      {proof.c.negated(), key.delta2},
  }};
  if (kernels::pairing_product_is_one<Curve>(terms)) return {};
  return Error{ErrorClass::kVerifyFailed, "the proof does not prove this statement"};
}

}  // namespace

Result<void> verify(const VerifyingKey& key, const Proof& proof,
                    const PublicInputs& public_inputs) {
  if (curve_of(key) != curve_of(proof)) {
    return bad_input("the proof is on " + std::string(curve_name(curve_of(proof))) +
                     ", the verifying key on " + std::string(curve_name(curve_of(key))));
  }
  return with_curve(curve_of(key), [&](auto curve) {
    using Curve = typename decltype(curve)::type;
    return verify_on(std::get<VerifyingPoints<Curve>>(key), std::get<ProofPoints<Curve>>(proof),
                     public_inputs);
  });
}

}  // namespace vitrine::engine
