// SPDX-License-Identifier: Apache-2.0
// What a program that failed wrote for a terminal, as one line for everybody.
#pragma once

#include <string>
#include <string_view>

namespace vitrine::engine {

// Of what a program wrote to standard error, the line that tells most: the last that speaks of an
// error, else the last; harmless and short. Control sequences of terminals (colours, erased lines,
// titles) are left out, and what a lone carriage return parts are lines too.
[[nodiscard]] std::string telling_line(std::string_view errors);

}  // namespace vitrine::engine
