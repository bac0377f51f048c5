// SPDX-License-Identifier: Apache-2.0
// The numbers of the `.r1cs` format, shared by its reader and its writer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/binary_container.h"
#include "engine/curve_id.h"

namespace vitrine::engine {

inline constexpr ContainerFormat kR1csFormat{"r1cs", 1};
inline constexpr std::uint32_t kR1csHeaderSection = 1;
inline constexpr std::uint32_t kR1csConstraintsSection = 2;
inline constexpr std::uint32_t kR1csLabelsSection = 3;
// Size of a value, prime, variables, outputs, public inputs, private inputs, labels, constraints.
inline constexpr std::size_t kR1csHeaderBytes = 4 + kScalarBytes + 4 * 4 + 8 + 4;
// Signal and coefficient.
inline constexpr std::size_t kR1csTermBytes = 4 + kScalarBytes;

}  // namespace vitrine::engine
