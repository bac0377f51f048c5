// SPDX-License-Identifier: Apache-2.0
#include "engine/telling_line.h"

#include <algorithm>
#include <cctype>

#include "engine/short_text.h"
#include "shm/printable_text.h"

namespace vitrine::engine {
namespace {

constexpr std::size_t kLineBytesMax = 160;
constexpr char kEscape = '\x1b';
constexpr char kBell = '\a';
constexpr std::string_view kLineEnds = "\r\n";
constexpr std::string_view kBlanks = " \t";

bool is_between(char byte, char first, char last) { return byte >= first && byte <= last; }

std::size_t skip(std::string_view text, std::size_t at, char first, char last) {
  while (at < text.size() && is_between(text[at], first, last)) ++at;
  return at;
}

// The byte that ends a sequence, when it is one; what is none is text, and stays.
std::size_t skip_final(std::string_view text, std::size_t at, char first) {
  return at < text.size() && is_between(text[at], first, '~') ? at + 1 : at;
}

// A text for the terminal itself, such as its title. One without an end ends with its line, so that
// it cannot take the next ones along.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (; at < text.size(); ++at) {
    if (text[at] == kBell) return at + 1;
    if (text[at] == kEscape) return at + (text.substr(at + 1, 1) == "\\" ? 2 : 0);
    if (kLineEnds.find(text[at]) != std::string_view::npos) return at;
  }
  return at;
}

// Where the control sequence ends that begins with the escape at the beginning of `text`.
std::size_t sequence_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  switch (text[1]) {
    case '[':  // parameters, intermediates, the final byte
      return skip_final(text, skip(text, skip(text, 2, '0', '?'), ' ', '/'), '@');
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
      return skip_string(text, 2);
    default:
      return skip_final(text, skip(text, 1, ' ', '/'), '0');
  }
}

std::string without_control_sequences(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find(kEscape), text.size());
    plain += text.substr(0, begin);
    text.remove_prefix(begin);
    if (!text.empty()) text.remove_prefix(sequence_length(text));
  }
  return plain;
}

std::string_view trimmed(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  return line.substr(0, line.find_last_not_of(kBlanks) + 1);
}

bool speaks_of_error(std::string_view line) {
  constexpr std::string_view kWord = "error";
  return std::ranges::search(line, kWord, [](char letter, char wanted) {
           return std::tolower(static_cast<unsigned char>(letter)) == wanted;
         }).begin() != line.end();
}

}  // namespace

std::string telling_line(std::string_view errors) {
  const std::string plain = without_control_sequences(errors);
  std::string_view last, last_error;
  for (std::string_view left = plain; !left.empty();) {
    const std::size_t end = std::min(left.find_first_of(kLineEnds), left.size());
    const std::string_view line = trimmed(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
    if (line.empty()) continue;
    if (speaks_of_error(line)) last_error = line;
    last = line;
  }
  std::string text = shm::printable_text(std::string(last_error.empty() ? last : last_error));
  if (text.size() <= kLineBytesMax) return text;
  text.resize(whole_characters(text, kLineBytesMax - kEllipsis.size()).size());
  return text.append(kEllipsis);
}

}  // namespace vitrine::engine
