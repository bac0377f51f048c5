// SPDX-License-Identifier: Apache-2.0
// What the terminal behind a descriptor can show, by the habits of the field: colour only on a
// terminal that has not been told NO_COLOR or TERM=dumb, UTF-8 only when the locale says so.
#pragma once

#include "tools/styled_text.h"

namespace vitrine::tools {

TextStyle text_style_of(int descriptor);

// A line may be drawn over itself.
bool can_redraw(int descriptor);

// Columns that a line may take without breaking: the terminal's; no bound where there is none.
std::size_t unbroken_columns(int descriptor);

// Columns of the terminal; 80 where there is none to ask.
std::size_t terminal_columns(int descriptor);

}  // namespace vitrine::tools
