// SPDX-License-Identifier: Apache-2.0
// Times of day and durations as text.
#pragma once

#include <cstdint>
#include <string>

namespace vitrine::shm {

// RFC 3339 in UTC with milliseconds: 2026-01-31T08:15:30.125Z. Empty for a time outside the years
// 1970 to 9999, which only damaged bytes hold.
std::string rfc3339_ms(std::int64_t unix_ns);

// A duration in its two largest units: 250ms, 4.2s, 41m23s, 3h07m, 12d04h.
std::string duration_text(std::uint64_t duration_ns);

}  // namespace vitrine::shm
