// SPDX-License-Identifier: Apache-2.0
// The numbers of the `.wtns` format, shared by its reader and its writer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/binary_container.h"
#include "engine/curve_id.h"

namespace vitrine::engine {

inline constexpr ContainerFormat kWtnsFormat{"wtns", 2};
inline constexpr std::uint32_t kWtnsHeaderSection = 1;
inline constexpr std::uint32_t kWtnsValuesSection = 2;
// Size of a value, prime, number of values.
inline constexpr std::size_t kWtnsHeaderBytes = 4 + kScalarBytes + 4;

}  // namespace vitrine::engine
