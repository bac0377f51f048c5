// SPDX-License-Identifier: Apache-2.0
#include "tools/styled_text.h"

namespace vitrine::tools {
namespace {

std::string_view escape_of(Tone tone) {
  switch (tone) {
    case Tone::kStrong:
      return "\x1b[1m";
    case Tone::kFaint:
      return "\x1b[2m";
    case Tone::kGood:
      return "\x1b[32m";
    case Tone::kActive:
      return "\x1b[36m";
    case Tone::kQueued:
      return "\x1b[34m";
    case Tone::kWarning:
      return "\x1b[33m";
    case Tone::kBad:
      return "\x1b[31m";
    case Tone::kPlain:
      break;
  }
  return "";
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

StyledText& StyledText::add(std::string_view text, Tone tone) {
  if (text.empty()) return *this;
  if (!parts_.empty() && parts_.back().tone == tone) {
    parts_.back().text.append(text);
  } else {
    parts_.push_back({std::string(text), tone});
  }
  return *this;
}

StyledText& StyledText::append(const StyledText& text) {
  for (const Part& part : text.parts_) add(part.text, part.tone);
  return *this;
}

std::size_t StyledText::width() const {
  std::size_t columns = 0;
  for (const Part& part : parts_) {
    for (char byte : part.text) columns += is_continuation(byte) ? 0 : 1;
  }
  return columns;
}

StyledText StyledText::cut(std::size_t columns, Charset charset) const {
  if (width() <= columns) return *this;
  const std::string_view mark = charset == Charset::kUtf8 ? "…" : "...";
  const std::size_t mark_columns = charset == Charset::kUtf8 ? 1 : mark.size();
  std::size_t left = columns > mark_columns ? columns - mark_columns : 0;
  StyledText kept;
  for (const Part& part : parts_) {
    std::size_t end = 0;
    while (end < part.text.size() && (left > 0 || is_continuation(part.text[end]))) {
      left -= is_continuation(part.text[end]) ? 0 : 1;
      ++end;
    }
    kept.add(part.text.substr(0, end), part.tone);
    if (end < part.text.size()) break;
  }
  return kept.add(mark, Tone::kFaint);
}

std::string StyledText::painted(const TextStyle& style) const {
  std::string out;
  for (const Part& part : parts_) {
    const std::string_view escape =
        style.colour == Colour::kAnsi ? escape_of(part.tone) : std::string_view();
    out.append(escape).append(part.text);
    if (!escape.empty()) out.append("\x1b[0m");
  }
  return out;
}

std::string printable(std::string_view text, Charset charset) {
  return shm::printable_text(text, charset);
}

}  // namespace vitrine::tools
