// SPDX-License-Identifier: Apache-2.0
// Texts of clients, made fit for messages and logs: valid UTF-8, one line, nothing that a terminal
// obeys or that changes the order of the letters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vitrine::engine {

// What is not harmless becomes `?`.
[[nodiscard]] std::string harmless_text(std::string_view text);
// At most `bytes_max` bytes of it, its end: that is where names differ.
[[nodiscard]] std::string harmless_end(std::string_view text, std::size_t bytes_max);

}  // namespace vitrine::engine
