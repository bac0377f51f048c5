// SPDX-License-Identifier: Apache-2.0
// Times of day as text.
#pragma once

#include <cstdint>
#include <string>

namespace vitrine::shm {

// RFC 3339 in UTC with milliseconds: 2026-01-31T08:15:30.125Z. Empty for a time outside the years
// 1970 to 9999, which only damaged bytes hold.
std::string rfc3339_ms(std::int64_t unix_ns);

}  // namespace vitrine::shm
