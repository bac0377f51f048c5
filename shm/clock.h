// SPDX-License-Identifier: Apache-2.0
// The clocks: one to measure with, one to show, and the boot within which the first compares.
//
// Units    nanoseconds.
// Threads  any.
#pragma once

#include <array>
#include <cstdint>

namespace vitrine::shm {

// CLOCK_MONOTONIC: every Instant of a segment and every age.
std::uint64_t monotonic_ns() noexcept;

// CLOCK_REALTIME, since 1970; only to show times of day.
std::int64_t unix_ns() noexcept;

// The running kernel's boot id: two monotonic times compare only within one boot. Zero when the
// kernel does not tell.
std::array<std::uint8_t, 16> boot_id();

}  // namespace vitrine::shm
