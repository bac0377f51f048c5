// SPDX-License-Identifier: Apache-2.0
// The third stage: the five MSMs, blinding, and the proof.
#include <cassert>
#include <span>
#include <utility>

#include "engine/groth16.h"
#include "engine/random_scalar.h"
#include "engine/stage_guard.h"
#include "kernels/msm.h"

namespace vitrine::engine {
namespace {

template <class Curve>
struct MsmSums {
  kernels::XyzzPoint<typename Curve::G1> a, b1, l, h;
  kernels::XyzzPoint<typename Curve::G2> b2;
};

template <class Group>
void run_msm(std::span<const kernels::AffinePoint<Group>> points,
             std::span<const ScalarInteger> scalars, const StageContext& context,
             kernels::XyzzPoint<Group>& sum) {
  assert(points.size() == scalars.size());
  if (context.cancelled.load(std::memory_order_relaxed)) return;
  sum = kernels::msm<Group>(points, scalars, context.threads);
}

template <class Curve>
Result<MsmSums<Curve>> run_msms(const ProvingPoints<Curve>& points, const StartedProof& started,
                                const StageContext& context) {
  const std::span<const ScalarInteger> witness = started.witness.values();
  MsmSums<Curve> sums;
  run_msm<typename Curve::G2>(points.b2, witness, context, sums.b2);
  run_msm<typename Curve::G1>(points.h, started.quotient, context, sums.h);
  run_msm<typename Curve::G1>(points.a, witness, context, sums.a);
  run_msm<typename Curve::G1>(points.b1, witness, context, sums.b1);
  run_msm<typename Curve::G1>(points.l, witness.last(points.l.size()), context, sums.l);
  if (context.cancelled.load(std::memory_order_relaxed)) return cancelled_error();
  return sums;
}

template <class Curve>
struct Blinding {
  typename Curve::Fr r, s;
};

template <class Curve>
Result<Blinding<Curve>> draw_blinding() {
  auto r = random_scalar<typename Curve::Fr>();
  if (!r) return r.error();
  auto s = random_scalar<typename Curve::Fr>();
  if (!s) return s.error();
  return Blinding<Curve>{*r, *s};
}

// A = alpha + sum w A + r delta
// B = beta + sum w B + s delta, in G2, and in G1 for C
// C = sum w L + sum h H + s A + r B1 - r s delta
template <class Curve>
ProofPoints<Curve> assemble(const ProvingPoints<Curve>& points, const MsmSums<Curve>& sums,
                            const Blinding<Curve>& blinding) {
  const auto r = blinding.r.to_integer();
  const auto s = blinding.s.to_integer();
  auto a = sums.a;
  a.add(points.alpha1);
  a.add(kernels::multiply(points.delta1, r));
  auto b2 = sums.b2;
  b2.add(points.beta2);
  b2.add(kernels::multiply(points.delta2, s));
  auto b1 = sums.b1;
  b1.add(points.beta1);
  b1.add(kernels::multiply(points.delta1, s));

  ProofPoints<Curve> proof;
  proof.a = a.to_affine();
  proof.b = b2.to_affine();
  auto c = sums.l;
  c.add(sums.h);
  c.add(kernels::multiply(proof.a, s));
  c.add(kernels::multiply(b1.to_affine(), r));
  c.add(kernels::multiply(points.delta1, (-(blinding.r * blinding.s)).to_integer()));
  proof.c = c.to_affine();
  return proof;
}

template <class Curve>
Result<Proof> finish_on(const CurveKey<Curve>& key, const StartedProof& started,
                        const StageContext& context) {
  auto blinding = draw_blinding<Curve>();
  if (!blinding) return blinding.error();
  auto sums = run_msms(key.points, started, context);
  if (!sums) return sums.error();
  return Proof(assemble(key.points, *sums, *blinding));
}

}  // namespace

Result<Proof> prove_finish(const ProvingKey& key, StartedProof&& started,
                           const StageContext& context) {
  const StartedProof owned = std::move(started);
  return guard_stage("prove_finish", [&] {
    return std::visit([&](const auto& tables) { return finish_on(tables, owned, context); },
                      key.tables);
  });
}

}  // namespace vitrine::engine
