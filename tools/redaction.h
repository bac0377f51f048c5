// SPDX-License-Identifier: Apache-2.0
// Takes secrets out of text that goes to others.
#pragma once

#include <string>
#include <string_view>

namespace vitrine::tools {

// Line by line: what follows the name of a secret (token, password, ...) and its = or : is
// replaced, as are name and password within an address. Paths stay.
std::string redacted(std::string_view text);

}  // namespace vitrine::tools
