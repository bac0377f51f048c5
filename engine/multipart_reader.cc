// SPDX-License-Identifier: Apache-2.0
#include "engine/multipart_reader.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/header_parameters.h"

namespace vitrine::engine {
namespace {

constexpr std::size_t kBoundaryBytesMax = 70;
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

bool is_boundary_letter(char letter) {
  constexpr std::string_view kLetters =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'()+_,-./:=? ";
  return kLetters.find(letter) != kLetters.npos;
}

bool is_control(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return (byte < 0x20 && letter != '\t') || byte == 0x7F;
}

bool is_header(std::string_view line, std::string_view name) {
  return line.size() > name.size() && line[name.size()] == ':' &&
         std::equal(name.begin(), name.end(), line.begin(), [](char wanted, char letter) {
           return wanted == (letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
         });
}

std::string_view value_in(std::string_view line) { return line.substr(line.find(':') + 1); }

// Bytes in another encoding than their own would become a wrong witness.
bool is_plain_encoding(std::string_view line) {
  const auto encoding = parse_parameters(value_in(line));
  static const std::set<std::string_view> kPlain = {"binary", "8bit", "7bit"};
  return encoding && kPlain.contains(encoding->value);
}

// Nothing when the head does not say, once, which part of a form this is.
std::optional<PartHead> part_head_of(std::string_view head) {
  std::optional<PartHead> part;
  while (!head.empty()) {
    const std::size_t end = std::min(head.find(kLineEnd), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + kLineEnd.size(), head.size()));
    if (std::any_of(line.begin(), line.end(), is_control)) return std::nullopt;
    if (line.find(':') == line.npos) return std::nullopt;
    if (is_header(line, "content-transfer-encoding") && !is_plain_encoding(line)) {
      return std::nullopt;
    }
    if (!is_header(line, "content-disposition")) continue;
    auto disposition = parse_parameters(value_in(line));
    if (part || !disposition || disposition->value != "form-data") return std::nullopt;
    if (!disposition->parameters.contains("name")) return std::nullopt;
    part = PartHead{disposition->parameters["name"], disposition->parameters["filename"]};
  }
  return part;
}

}  // namespace

std::optional<std::string> MultipartReader::boundary_of(std::string_view content_type) {
  const auto type = parse_parameters(content_type);
  if (!type || type->value != "multipart/form-data") return std::nullopt;
  const auto boundary = type->parameters.find("boundary");
  if (boundary == type->parameters.end()) return std::nullopt;
  const std::string& text = boundary->second;
  const bool is_good = !text.empty() && text.size() <= kBoundaryBytesMax && text.back() != ' ' &&
                       std::all_of(text.begin(), text.end(), is_boundary_letter);
  return is_good ? std::optional(text) : std::nullopt;
}

bool MultipartReader::take(std::span<const char> bytes) {
  if (state_ == State::kRefused) return false;
  held_.append(bytes.data(), bytes.size());
  std::string_view rest = held_;
  while (go_on(rest) == Step::kDone) {
  }
  held_.erase(0, held_.size() - rest.size());
  return state_ != State::kRefused;
}

bool MultipartReader::finish() {
  const bool is_whole = state_ == State::kEnd && held_.size() != 1;
  if (!is_whole && state_ != State::kRefused) refuse("it ends before its last boundary");
  return is_whole;
}

MultipartReader::Step MultipartReader::go_on(std::string_view& rest) {
  switch (state_) {
    case State::kStart:
    case State::kPartStart:
      return take_delimiter(rest);
    case State::kDelimited:
      return take_delimiter_end(rest);
    case State::kHead:
      return take_head(rest);
    case State::kPart:
      return take_part(rest);
    case State::kEnd:
      return take_end(rest);
    case State::kRefused:
      break;
  }
  return Step::kNeedsMore;
}

// Where the line before is over already: at the start of the body, and right behind a head.
MultipartReader::Step MultipartReader::take_delimiter(std::string_view& rest) {
  const std::string_view expected = std::string_view(delimiter_).substr(kLineEnd.size());
  const bool is_after_head = state_ == State::kPartStart;
  if (rest.size() < expected.size() && expected.starts_with(rest)) return Step::kNeedsMore;
  if (rest.starts_with(expected)) {
    rest.remove_prefix(expected.size());
    return heard(!is_after_head || listener_.part_ends(), State::kDelimited);
  }
  if (!is_after_head) return refuse("it does not begin with its boundary");
  state_ = State::kPart;
  return Step::kDone;
}

MultipartReader::Step MultipartReader::take_delimiter_end(std::string_view& rest) {
  if (rest.size() < kLineEnd.size()) return Step::kNeedsMore;
  const std::string_view end = rest.substr(0, kLineEnd.size());
  if (end != kLineEnd && end != "--") return refuse("a boundary is followed by other bytes");
  rest.remove_prefix(kLineEnd.size());
  state_ = end == kLineEnd ? State::kHead : State::kEnd;
  return Step::kDone;
}

MultipartReader::Step MultipartReader::take_head(std::string_view& rest) {
  const std::size_t end = rest.find(kHeadEnd);
  if (std::min(end, rest.size()) > kHeadBytesMax) {
    return refuse("the head of a part is longer than " + std::to_string(kHeadBytesMax) + " bytes");
  }
  if (end == rest.npos) return Step::kNeedsMore;
  const auto head = part_head_of(rest.substr(0, end));
  if (!head) return refuse("the head of a part is not that of a part of a form");
  rest.remove_prefix(end + kHeadEnd.size());
  return heard(listener_.part_begins(*head), State::kPartStart);
}

MultipartReader::Step MultipartReader::take_part(std::string_view& rest) {
  const std::size_t end = rest.find(delimiter_);
  const bool is_over = end != rest.npos;
  // The last bytes may be the beginning of a delimiter.
  const std::size_t kept = std::min(rest.size(), delimiter_.size() - 1);
  const std::string_view bytes = rest.substr(0, is_over ? end : rest.size() - kept);
  if (!bytes.empty() && !listener_.part_goes_on(bytes)) return heard(false, State::kPart);
  rest.remove_prefix(bytes.size());
  if (!is_over) return Step::kNeedsMore;
  rest.remove_prefix(delimiter_.size());
  return heard(listener_.part_ends(), State::kDelimited);
}

MultipartReader::Step MultipartReader::take_end(std::string_view rest) {
  if (!kLineEnd.starts_with(rest)) return refuse("bytes follow its last boundary");
  return Step::kNeedsMore;
}

MultipartReader::Step MultipartReader::refuse(std::string fault) {
  state_ = State::kRefused;
  fault_ = std::move(fault);
  return Step::kNeedsMore;
}

MultipartReader::Step MultipartReader::heard(bool goes_on, State next) {
  state_ = goes_on ? next : State::kRefused;
  return goes_on ? Step::kDone : Step::kNeedsMore;
}

}  // namespace vitrine::engine
