// SPDX-License-Identifier: Apache-2.0
// A text as TOML writes it, in quotes.
#pragma once

#include <string>

namespace vitrine::engine {

[[nodiscard]] std::string toml_string(const std::string& text);

}  // namespace vitrine::engine
