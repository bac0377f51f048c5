// SPDX-License-Identifier: Apache-2.0
#include "engine/quantities.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>

namespace vitrine::engine {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<Unit, 4> kSizeUnits = {{{"KiB", std::uint64_t{1} << 10},
                                             {"MiB", std::uint64_t{1} << 20},
                                             {"GiB", std::uint64_t{1} << 30},
                                             {"TiB", std::uint64_t{1} << 40}}};
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::array<Unit, 4> kDurationUnits = {{{"ms", kNsPerSecond / 1000},
                                                 {"s", kNsPerSecond},
                                                 {"m", 60 * kNsPerSecond},
                                                 {"h", 3600 * kNsPerSecond}}};
constexpr std::uint64_t kMaxSizeBytes = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMaxDurationNs = 10'000 * 3600 * kNsPerSecond;
// With more decimals a fraction of a TiB no longer fits 64 bits exactly.
constexpr std::size_t kMaxDecimals = 6;

// Removes the digits at the front of `text` and returns their value.
std::optional<std::uint64_t> take_digits(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

template <std::size_t kCount>
std::optional<std::uint64_t> factor_of(std::string_view name,
                                       const std::array<Unit, kCount>& units) {
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const Unit& unit) { return unit.name == name; });
  if (found == units.end()) return std::nullopt;
  return found->factor;
}

std::optional<std::uint64_t> product_up_to(std::uint64_t value, std::uint64_t factor,
                                           std::uint64_t limit) {
  if (value > limit / factor) return std::nullopt;
  return value * factor;
}

// The part after the point: digits / 10^count of a unit, rounded down.
std::optional<std::uint64_t> take_fraction(std::string_view& text, std::uint64_t& scale) {
  const std::size_t before = text.size();
  const auto digits = take_digits(text);
  const std::size_t decimals = before - text.size();
  if (!digits || decimals > kMaxDecimals) return std::nullopt;
  scale = 1;
  for (std::size_t i = 0; i < decimals; ++i) scale *= 10;
  return digits;
}

// The largest unit of which `value` is a multiple, smallest first in `units`.
template <std::size_t kCount>
const Unit* whole_unit(std::uint64_t value, const std::array<Unit, kCount>& units) {
  const auto found = std::find_if(units.rbegin(), units.rend(), [&](const Unit& unit) {
    return value != 0 && value % unit.factor == 0;
  });
  return found == units.rend() ? nullptr : &*found;
}

std::string in_unit(std::uint64_t value, const Unit& unit) {
  return std::to_string(value / unit.factor) + std::string(unit.name);
}

}  // namespace

std::optional<std::uint64_t> parse_size_bytes(std::string_view text) {
  const auto whole = take_digits(text);
  if (!whole) return std::nullopt;
  if (text.empty()) return *whole <= kMaxSizeBytes ? whole : std::nullopt;
  std::uint64_t fraction = 0;
  std::uint64_t scale = 1;
  if (text.front() == '.') {
    text.remove_prefix(1);
    const auto digits = take_fraction(text, scale);
    if (!digits) return std::nullopt;
    fraction = *digits;
  }
  const auto factor = factor_of(text, kSizeUnits);
  if (!factor) return std::nullopt;
  const auto bytes = product_up_to(*whole, *factor, kMaxSizeBytes);
  const std::uint64_t rest = fraction * *factor / scale;
  if (!bytes || rest > kMaxSizeBytes - *bytes) return std::nullopt;
  return *bytes + rest;
}

std::optional<std::uint64_t> parse_duration_ns(std::string_view text) {
  const auto number = take_digits(text);
  const auto factor = factor_of(text, kDurationUnits);
  if (!number || !factor) return std::nullopt;
  return product_up_to(*number, *factor, kMaxDurationNs);
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < kSizeUnits.front().factor) return exact_size_text(bytes);
  // 1023.95 would print as 1024.0 of the smaller unit.
  const auto unit = std::find_if(kSizeUnits.begin(), kSizeUnits.end() - 1, [&](const Unit& one) {
    return static_cast<double>(bytes) < 1023.95 * static_cast<double>(one.factor);
  });
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s",
                static_cast<double>(bytes) / static_cast<double>(unit->factor), unit->name.data());
  return text.data();
}

std::string exact_size_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string size_setting(std::uint64_t bytes) {
  const Unit* unit = whole_unit(bytes, kSizeUnits);
  return unit == nullptr ? std::to_string(bytes) : in_unit(bytes, *unit);
}

std::string duration_setting(std::uint64_t duration_ns) {
  const Unit* unit = whole_unit(duration_ns, kDurationUnits);
  return in_unit(duration_ns, unit == nullptr ? kDurationUnits.front() : *unit);
}

}  // namespace vitrine::engine
