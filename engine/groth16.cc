// SPDX-License-Identifier: Apache-2.0
#include "engine/groth16.h"

#include <algorithm>

namespace vitrine::engine {

WorkingBytes working_bytes(const KeyShape& shape, unsigned threads) {
  // kernels/msm.h: a reference a term, and for every thread another and its buckets.
  constexpr std::uint64_t kReferenceBytes = 4;
  constexpr std::uint64_t kBucketBytes = std::uint64_t{1} << 20;
  const std::uint64_t domain_bytes = shape.domain_size * kScalarBytes;
  const std::uint64_t twiddle_bytes = domain_bytes / 2;
  const std::uint64_t terms = std::max(shape.variables, shape.domain_size);
  WorkingBytes bytes;
  bytes.witness = shape.variables * kScalarBytes;
  bytes.constraint_values = 3 * domain_bytes;
  bytes.quotient = domain_bytes;
  bytes.scratch =
      twiddle_bytes + terms * kReferenceBytes + threads * (terms * kReferenceBytes + kBucketBytes);
  return bytes;
}

}  // namespace vitrine::engine
