// SPDX-License-Identifier: Apache-2.0
// Big integers as the decimal strings snarkjs' JSON files hold.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vitrine::engine {

// The integer of these little-endian limbs.
[[nodiscard]] std::string to_decimal(std::span<const std::uint64_t> limbs);

// The inverse. False when the text is not the shortest decimal form of an integer that fits.
[[nodiscard]] bool from_decimal(std::string_view text, std::span<std::uint64_t> limbs);

}  // namespace vitrine::engine
