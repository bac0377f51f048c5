// SPDX-License-Identifier: Apache-2.0
// Sizes and durations as command lines and configuration files write them.
//
// Why: `512G` silently read as something else has cost people machines, so what is not exactly of
// the form below is refused, never guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vitrine::engine {

// "4096" (bytes), "512MiB", "1.5GiB": digits, an optional fraction with a unit, and KiB, MiB, GiB
// or TiB. Nothing when the text is anything else or the size does not fit 63 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_size_bytes(std::string_view text);

// "250ms", "5s", "10m", "2h": digits and a unit. Nothing when the text is anything else or longer
// than 10,000 hours.
[[nodiscard]] std::optional<std::uint64_t> parse_duration_ns(std::string_view text);

// For people, rounded: "512 bytes", "46.0 MiB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);
// To the byte: "48234496 bytes", "1 byte".
[[nodiscard]] std::string exact_size_text(std::uint64_t bytes);

// As the functions above read them, in the largest unit without a remainder: "16GiB", "4097";
// "25s", "1500ms" (rounded down to it).
[[nodiscard]] std::string size_setting(std::uint64_t bytes);
[[nodiscard]] std::string duration_setting(std::uint64_t duration_ns);

}  // namespace vitrine::engine
