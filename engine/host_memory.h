// SPDX-License-Identifier: Apache-2.0
// How much memory this process may use, and how much it does.
//
// Units: bytes.
// Why: inside a container the host's memory is not the limit; the control group's is.
#pragma once

#include <cstdint>
#include <filesystem>

namespace vitrine::engine {

// The smaller of the host's memory and every limit of the control groups (v2 or v1) around this
// process. `root` is where /proc and /sys are looked for.
[[nodiscard]] std::uint64_t memory_limit_bytes(const std::filesystem::path& root = "/");

// Resident memory of this process; zero when the kernel does not tell.
[[nodiscard]] std::uint64_t resident_bytes();

}  // namespace vitrine::engine
