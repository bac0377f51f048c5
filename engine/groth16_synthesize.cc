// SPDX-License-Identifier: Apache-2.0
// The first stage: evaluates the constraint matrices on the witness.
#include <cassert>
#include <span>

#include "engine/groth16.h"
#include "engine/stage_guard.h"

namespace vitrine::engine {
namespace {

constexpr std::size_t kMinRows = 1024;

// One row times the witness. The row's values carry R^2, so multiplying by the plain integer gives
// Montgomery form.
template <class Fr>
Fr row_product(const ConstraintMatrix<Fr>& matrix, std::size_t row,
               std::span<const ScalarInteger> witness) {
  Fr sum;
  for (std::uint32_t i = matrix.row_begin[row]; i < matrix.row_begin[row + 1]; ++i) {
    const Fr value = Fr::from_montgomery(witness[matrix.signals[i]]);
    if (!value.is_zero()) sum += matrix.values[i] * value;
  }
  return sum;
}

template <class Curve>
Result<ConstraintValues> synthesize_on(const CurveKey<Curve>& key,
                                       std::span<const ScalarInteger> witness,
                                       const StageContext& context) {
  using Fr = typename Curve::Fr;
  const std::size_t rows = key.a.row_begin.size() - 1;
  ConstraintVectors<Fr> values;
  values.a.resize(rows);
  values.b.resize(rows);
  values.c.resize(rows);
  context.threads.parallel_for(rows, kMinRows, [&](std::size_t begin, std::size_t end) {
    if (context.cancelled.load(std::memory_order_relaxed)) return;
    for (std::size_t row = begin; row < end; ++row) {
      values.a[row] = row_product(key.a, row, witness);
      values.b[row] = row_product(key.b, row, witness);
      values.c[row] = values.a[row] * values.b[row];
    }
  });
  if (context.cancelled.load(std::memory_order_relaxed)) return cancelled_error();
  return ConstraintValues(std::move(values));
}

}  // namespace

Result<ConstraintValues> synthesize(const ProvingKey& key, const Witness& witness,
                                    const StageContext& context) {
  assert(witness.values().size() == key.shape.variables);
  return guard_stage("synthesize", [&] {
    return std::visit(
        [&](const auto& tables) { return synthesize_on(tables, witness.values(), context); },
        key.tables);
  });
}

}  // namespace vitrine::engine
