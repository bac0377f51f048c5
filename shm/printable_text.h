// SPDX-License-Identifier: Apache-2.0
// Makes text of unknown origin (file names, words of a client, texts of a segment) safe for a
// terminal and for lines of a log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vitrine::shm {

// kAscii where the locale or the pipe promises no more than ASCII.
enum class Charset : std::uint8_t { kAscii, kUtf8 };

// Control characters (line breaks too), characters that reorder or hide text, and bytes that are
// not UTF-8 become \xNN; with kAscii every other character beyond ASCII becomes '?'.
std::string printable_text(std::string_view text, Charset charset = Charset::kUtf8);
// At most `bytes_max` bytes of that, its end: there names differ.
std::string printable_end(std::string_view text, std::size_t bytes_max);

}  // namespace vitrine::shm
