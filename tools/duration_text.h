// SPDX-License-Identifier: Apache-2.0
// Durations as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/error.h"

namespace vitrine::tools {

// Reads a whole number and a unit: 250ms, 5s, 10m, 2h. Zero is allowed; anything else (no unit, a
// sign, a fraction, blanks, more than 10,000 hours) is refused as kUsage, never guessed.
Result<std::uint64_t> parse_duration_ns(std::string_view text);

// An age in its two largest units: 250ms, 4.2s, 41m23s, 3h07m, 12d04h.
std::string duration_text(std::uint64_t duration_ns);

}  // namespace vitrine::tools
