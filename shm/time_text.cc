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

// The last `digits` decimal digits of `value`, in place of those at `at`.
void put(std::string& text, std::size_t at, std::size_t digits, std::int64_t value) {
  for (; digits-- > 0; value /= 10) text[at + digits] = static_cast<char>('0' + value % 10);
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
  // By hand: snapshots have hundreds of these, and a printf of one takes longer than all else of
  // it.
  std::string text = "0000-00-00T00:00:00.000Z";
  put(text, 0, 4, static_cast<int>(day.year()));
  put(text, 5, 2, static_cast<unsigned>(day.month()));
  put(text, 8, 2, static_cast<unsigned>(day.day()));
  put(text, 11, 2, time.hours().count());
  put(text, 14, 2, time.minutes().count());
  put(text, 17, 2, time.seconds().count());
  put(text, 20, 3, time.subseconds().count());
  return text;
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
