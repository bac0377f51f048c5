// SPDX-License-Identifier: Apache-2.0
#include "tools/duration_text.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace vitrine::tools {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kSecond = 1'000 * kMillisecond;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr std::uint64_t kHour = 60 * kMinute;
constexpr std::uint64_t kLongest = 10'000 * kHour;

struct Unit {
  std::string_view name;
  std::uint64_t length_ns;
};
constexpr std::array<Unit, 4> kUnits = {
    {{"ms", kMillisecond}, {"s", kSecond}, {"m", kMinute}, {"h", kHour}}};

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

}  // namespace

Result<std::uint64_t> parse_duration_ns(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc{}) {
    for (const Unit& unit : kUnits) {
      if (std::string_view(rest, static_cast<std::size_t>(end - rest)) == unit.name &&
          number <= kLongest / unit.length_ns) {
        return number * unit.length_ns;
      }
    }
  }
  return Error{ExitCode::kUsage,
               "'" + std::string(text) + "' is not a duration like 250ms, 5s or 10m"};
}

std::string duration_text(std::uint64_t duration_ns) {
  using Wide = unsigned long long;
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

}  // namespace vitrine::tools
