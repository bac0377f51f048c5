// SPDX-License-Identifier: Apache-2.0
// Durations as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shm/time_text.h"
#include "tools/error.h"

namespace vitrine::tools {

// Reads a whole number and a unit: 250ms, 5s, 10m, 2h. Zero is allowed; anything else (no unit, a
// sign, a fraction, blanks, more than 10,000 hours) is refused as kUsage, never guessed.
Result<std::uint64_t> parse_duration_ns(std::string_view text);

using shm::duration_text;

}  // namespace vitrine::tools
