// SPDX-License-Identifier: Apache-2.0
#include "shm/time_text.h"

#include <array>
#include <chrono>
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
  namespace chrono = std::chrono;
  if (unix_ns < 0) return {};  // 2^63 ns end in 2262, so only this side needs a check
  // Not gmtime_r: with a zone of the kind right/UTC that counts leap seconds.
  const chrono::sys_time<chrono::nanoseconds> instant{chrono::nanoseconds(unix_ns)};
  const auto midnight = chrono::floor<chrono::days>(instant);
  const chrono::year_month_day day{midnight};
  const chrono::hh_mm_ss time{chrono::floor<chrono::milliseconds>(instant - midnight)};
  const auto number = [](auto duration) { return static_cast<int>(duration.count()); };
  return formatted("%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(day.year()),
                   static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()),
                   number(time.hours()), number(time.minutes()), number(time.seconds()),
                   number(time.subseconds()));
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
