// SPDX-License-Identifier: Apache-2.0
#include "tools/duration_text.h"

#include <array>
#include <charconv>

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

}  // namespace vitrine::tools
