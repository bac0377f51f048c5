// SPDX-License-Identifier: Apache-2.0
#include "shm/time_text.h"

#include <time.h>

#include <array>
#include <cstdio>

namespace vitrine::shm {
namespace {

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

}  // namespace

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

std::string duration_text(std::uint64_t duration_ns) {
  using Wide = unsigned long long;
  constexpr std::uint64_t kMillisecond = 1'000'000;
  constexpr std::uint64_t kSecond = 1'000 * kMillisecond;
  if (duration_ns < kSecond) return formatted("%llums", Wide{duration_ns / kMillisecond});
  if (duration_ns < 10 * kSecond) {
    const std::uint64_t tenths = duration_ns / (100 * kMillisecond);
    return formatted("%llu.%llus", Wide{tenths / 10}, Wide{tenths % 10});
  }
  const std::uint64_t seconds = duration_ns / kSecond;
  if (seconds < 60) return formatted("%llus", Wide{seconds});
  const std::uint64_t minutes = seconds / 60;
  if (minutes < 60) return formatted("%llum%02llus", Wide{minutes}, Wide{seconds % 60});
  const std::uint64_t hours = minutes / 60;
  if (hours < 48) return formatted("%lluh%02llum", Wide{hours}, Wide{minutes % 60});
  return formatted("%llud%02lluh", Wide{hours / 24}, Wide{hours % 24});
}

}  // namespace vitrine::shm
