// SPDX-License-Identifier: Apache-2.0
// The second stage: the quotient polynomial, as the scalars of its MSM.
//
// Why: a, b, c are given at the even points of the double domain, where ab - c vanishes. Its values
// at the odd points determine it, and the key's H points are the odd Lagrange basis of the double
// domain over delta, so those values are the scalars: no division by the vanishing polynomial.
#include <bit>
#include <cassert>
#include <utility>

#include "engine/groth16.h"
#include "engine/stage_guard.h"
#include "kernels/ntt.h"

namespace vitrine::engine {
namespace {

constexpr std::size_t kMinElements = 4096;

// The step from the even to the odd points: a square root of the domain's generator. The largest
// domain has none, and snarkjs' keys then use the square of the smallest non-residue, 5 on both
// curves.
template <class Fr>
Fr odd_shift(unsigned log2_size) {
  if (log2_size == kernels::Domain<Fr>::kMaxLog2) return Fr::from_u64(25);
  return kernels::Domain<Fr>::root_of_unity(log2_size + 1);
}

template <class Fr>
LargeVector<ScalarInteger> odd_products(const ConstraintVectors<Fr>& values,
                                        kernels::ThreadPool& threads) {
  LargeVector<ScalarInteger> quotient(values.a.size());
  threads.parallel_for(quotient.size(), kMinElements, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      quotient[i] = (values.a[i] * values.b[i] - values.c[i]).to_integer();
    }
  });
  return quotient;
}

template <class Fr>
Result<LargeVector<ScalarInteger>> quotient_scalars(ConstraintVectors<Fr> values,
                                                    const StageContext& context) {
  const auto log2_size = static_cast<unsigned>(std::countr_zero(values.a.size()));
  const kernels::Domain<Fr> domain(log2_size, context.threads);
  const Fr shift = odd_shift<Fr>(log2_size);
  for (LargeVector<Fr>* vector : {&values.a, &values.b, &values.c}) {
    if (context.cancelled.load(std::memory_order_relaxed)) return cancelled_error();
    domain.move_to_coset(*vector, shift, context.threads);
  }
  if (context.cancelled.load(std::memory_order_relaxed)) return cancelled_error();
  return odd_products(values, context.threads);
}

}  // namespace

Result<StartedProof> prove_start(const ProvingKey& key, Witness&& witness,
                                 ConstraintValues&& values, const StageContext& context) {
  assert(values.index() == key.tables.index());
  return guard_stage("prove_start", [&]() -> Result<StartedProof> {
    auto quotient = std::visit(
        [&](auto& vectors) {
          assert(vectors.a.size() == key.shape.domain_size);
          return quotient_scalars(std::move(vectors), context);
        },
        values);
    if (!quotient) return quotient.error();
    return StartedProof{std::move(witness), std::move(*quotient)};
  });
}

}  // namespace vitrine::engine
