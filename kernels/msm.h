// SPDX-License-Identifier: Apache-2.0
// Multi-scalar multiplication: the sum of k_i P_i.
//
// Threads: shares its work over the pool, first by window and then within a window, so that all
//   threads are busy whatever the size; may be called from several threads at once.
// Cost: about 6 field multiplications per term and window of 10 to 16 bits; a term with k = 1 costs
//   6 in all, one with k = 0 or P at infinity nothing. Memory besides the arguments: 4 bytes per
//   term, and per thread 4 bytes per term and about 1 MB.
// Why: a circuit's witness is mostly bits; the quotient of a proof is dense. Not constant time.
// Source: Pippenger, "On the evaluation of powers and related problems" (1976); the parts it is
//   made of name theirs (msm_digits.h, msm_run_sums.h, msm_pairwise_sums.h).
#pragma once

#include <span>

#include "kernels/bls12_381.h"
#include "kernels/bn254.h"
#include "kernels/curve_point.h"
#include "kernels/thread_pool.h"

namespace vitrine::kernels {

// points.size() == integers.size() < 2^31; the integers are not in Montgomery form. Any points of
// the curve: equal, opposite and infinite ones are handled.
template <class Group>
XyzzPoint<Group> msm(std::span<const AffinePoint<Group>> points,
                     std::span<const typename Group::Scalar::Limbs> integers, ThreadPool& pool);

extern template XyzzPoint<Bn254::G1> msm(std::span<const AffinePoint<Bn254::G1>>,
                                         std::span<const Bn254::Fr::Limbs>, ThreadPool&);
extern template XyzzPoint<Bn254::G2> msm(std::span<const AffinePoint<Bn254::G2>>,
                                         std::span<const Bn254::Fr::Limbs>, ThreadPool&);
extern template XyzzPoint<Bls12_381::G1> msm(std::span<const AffinePoint<Bls12_381::G1>>,
                                             std::span<const Bls12_381::Fr::Limbs>, ThreadPool&);
extern template XyzzPoint<Bls12_381::G2> msm(std::span<const AffinePoint<Bls12_381::G2>>,
                                             std::span<const Bls12_381::Fr::Limbs>, ThreadPool&);

}  // namespace vitrine::kernels
