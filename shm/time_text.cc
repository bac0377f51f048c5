// SPDX-License-Identifier: Apache-2.0
#include "shm/time_text.h"

#include <time.h>

#include <array>
#include <cstdio>

namespace vitrine::shm {

std::string rfc3339_ms(std::int64_t unix_ns) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  if (unix_ns < 0) return {};  // 2^63 ns end in 2262, so only this side needs a check
  const time_t seconds = unix_ns / kNsPerSecond;
  const int milliseconds = static_cast<int>(unix_ns % kNsPerSecond / 1'000'000);
  struct tm parts {};
  if (::gmtime_r(&seconds, &parts) == nullptr) return {};
  std::array<char, 32> day{};
  if (::strftime(day.data(), day.size(), "%Y-%m-%dT%H:%M:%S", &parts) == 0) return {};
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%s.%03dZ", day.data(), milliseconds);
  return text.data();
}

}  // namespace vitrine::shm
