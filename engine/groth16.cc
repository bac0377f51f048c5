// SPDX-License-Identifier: Apache-2.0
#include "engine/groth16.h"

namespace vitrine::engine {

WorkingBytes working_bytes(const KeyShape& shape) {
  // Buckets, digits and partial sums of one MSM at a time, measured; a little more than linear
  // terms show because small MSMs still have whole bucket arrays.
  constexpr std::uint64_t kMsmFixedBytes = std::uint64_t{16} << 20;
  constexpr std::uint64_t kMsmBytesPerPoint = 48;
  const std::uint64_t domain_bytes = shape.domain_size * kScalarBytes;
  WorkingBytes bytes;
  bytes.witness = shape.variables * kScalarBytes;
  bytes.constraint_values = 3 * domain_bytes;
  bytes.quotient = domain_bytes;
  bytes.scratch = domain_bytes + kMsmFixedBytes + shape.variables * kMsmBytesPerPoint;
  return bytes;
}

}  // namespace vitrine::engine
