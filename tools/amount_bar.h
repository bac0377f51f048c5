// SPDX-License-Identifier: Apache-2.0
// A part of a whole as a bar of fixed width.
#pragma once

#include <cstdint>

#include "tools/styled_text.h"

namespace vitrine::tools {

// `columns` wide; a part above zero shows at least one mark, less than the whole never a full bar.
StyledText amount_bar(std::uint64_t part, std::uint64_t whole, std::size_t columns,
                      Charset charset);

}  // namespace vitrine::tools
