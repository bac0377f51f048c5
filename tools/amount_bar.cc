// SPDX-License-Identifier: Apache-2.0
#include "tools/amount_bar.h"

#include <algorithm>

namespace vitrine::tools {

StyledText amount_bar(std::uint64_t part, std::uint64_t whole, std::size_t columns,
                      Charset charset) {
  std::size_t filled = 0;
  if (whole > 0 && part >= whole) {
    filled = columns;
  } else if (whole > 0 && part > 0 && columns > 1) {
    const double share = static_cast<double>(part) / static_cast<double>(whole);
    filled = static_cast<std::size_t>(share * static_cast<double>(columns));
    filled = std::clamp<std::size_t>(filled, 1, columns - 1);
  }
  StyledText bar;
  for (std::size_t i = 0; i < columns; ++i) {
    const bool is_filled = i < filled;
    if (charset == Charset::kUtf8) {
      bar.add(is_filled ? "█" : "░", is_filled ? Tone::kActive : Tone::kFaint);
    } else {
      bar.add(is_filled ? "#" : ".", is_filled ? Tone::kActive : Tone::kFaint);
    }
  }
  return bar;
}

}  // namespace vitrine::tools
