// SPDX-License-Identifier: Apache-2.0
#include "shm/clock.h"

#include <time.h>

#include <fstream>
#include <string>

namespace vitrine::shm {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t clock_ns(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

std::uint64_t monotonic_ns() noexcept {
  return static_cast<std::uint64_t>(clock_ns(CLOCK_MONOTONIC));
}

std::int64_t unix_ns() noexcept { return clock_ns(CLOCK_REALTIME); }

std::array<std::uint8_t, 16> boot_id() {
  std::array<std::uint8_t, 16> id{};
  std::string text;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), text);
  std::size_t digits = 0;
  for (const char c : text) {
    const int value = hex_value(c);
    if (value < 0) continue;  // the dashes
    if (digits == 2 * id.size()) return {};
    id[digits / 2] = static_cast<std::uint8_t>(id[digits / 2] << 4 | value);
    ++digits;
  }
  return digits == 2 * id.size() ? id : std::array<std::uint8_t, 16>{};
}

}  // namespace vitrine::shm
