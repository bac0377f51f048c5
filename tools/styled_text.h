// SPDX-License-Identifier: Apache-2.0
// Text whose parts have a tone; a terminal that has colour paints the tones, any other drops them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shm/printable_text.h"

namespace vitrine::tools {

// What a part means, not how it looks.
enum class Tone : std::uint8_t { kPlain, kStrong, kFaint, kGood, kActive, kQueued, kWarning, kBad };

using Charset = shm::Charset;
enum class Colour : std::uint8_t { kNone, kAnsi };

// How text is to look; decided once by tools/terminal.h, everything else is told.
struct TextStyle {
  Charset charset = Charset::kAscii;
  Colour colour = Colour::kNone;
};

class StyledText {
 public:
  StyledText() = default;
  StyledText(std::string_view text) { add(text); }    // NOLINT(google-explicit-constructor)
  StyledText(const char* text) { add(text); }         // NOLINT(google-explicit-constructor)
  StyledText(const std::string& text) { add(text); }  // NOLINT(google-explicit-constructor)
  StyledText(std::string_view text, Tone tone) { add(text, tone); }

  StyledText& add(std::string_view text, Tone tone = Tone::kPlain);

  StyledText& append(const StyledText& text);

  bool empty() const { return parts_.empty(); }
  // The text, or what of it fits into that many columns with a mark that it was cut.
  StyledText cut(std::size_t columns, Charset charset) const;
  std::size_t width() const;  // columns, counting one for each character
  std::string painted(const TextStyle& style) const;

 private:
  struct Part {
    std::string text;
    Tone tone;
  };
  std::vector<Part> parts_;
};

// As shm/printable_text.h says.
std::string printable(std::string_view text, Charset charset);

}  // namespace vitrine::tools
