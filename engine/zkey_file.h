// SPDX-License-Identifier: Apache-2.0
// The outside of a `.zkey`: its header numbers, and section lengths that agree with them.
//
// Why: after open() every size the reader allocates by is backed by bytes really in the file, so a
// small file cannot ask for much memory.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/binary_container.h"
#include "engine/error.h"
#include "engine/proving_key.h"

namespace vitrine::engine {

inline constexpr ContainerFormat kZkeyFormat{"zkey", 1};
inline constexpr std::uint32_t kGroth16Protocol = 1;

enum class ZkeySection : std::uint32_t {
  kProtocol = 1,
  kHeader = 2,
  kIc = 3,
  kCoefficients = 4,
  kA = 5,
  kB1 = 6,
  kB2 = 7,
  kL = 8,
  kH = 9,
  kContributions = 10,
};

// Bytes of one entry of the coefficient section: matrix, constraint, signal, value.
inline constexpr std::uint64_t kCoefficientBytes = 12 + kScalarBytes;

struct ZkeyFile {
  BinaryContainer container;
  KeyShape shape;

  [[nodiscard]] static Result<ZkeyFile> open(const std::filesystem::path& path);

  // The section, whose presence and length open() has checked.
  [[nodiscard]] ContainerSection section(ZkeySection type) const;
  [[nodiscard]] Error section_error(ZkeySection type, std::string_view rule) const {
    return container.section_error(static_cast<std::uint32_t>(type), rule);
  }
};

// Bytes of section 2 before its points: sizes, primes, counts.
template <class Curve>
inline constexpr std::size_t kZkeyNumbersBytes = 4 + Curve::Fq::kBytes + 4 + kScalarBytes + 12;

// All of section 2: the numbers, then alpha1, beta1, beta2, gamma2, delta1, delta2.
template <class Curve>
inline constexpr std::size_t kZkeyHeaderBytes = kZkeyNumbersBytes<Curve> +
                                                3 * (2 * Curve::Fq::kBytes) +
                                                3 * (4 * Curve::Fq::kBytes);

}  // namespace vitrine::engine
