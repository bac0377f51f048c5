// SPDX-License-Identifier: Apache-2.0
#include "tools/text_table.h"

#include <algorithm>
#include <cassert>

namespace vitrine::tools {
namespace {

constexpr std::size_t kGap = 2;

// Collects the cells of one line; blanks are written only when something follows them.
class LineBuilder {
 public:
  LineBuilder(const TextStyle& style, std::size_t indent) : style_(style), blanks_(indent) {}

  void add(const StyledText& text, std::size_t width, Align align) {
    const std::size_t padding = width - text.width();
    if (align == Align::kRight) blanks_ += padding;
    if (!text.empty()) {
      line_.append(blanks_, ' ').append(text.painted(style_));
      blanks_ = 0;
    }
    if (align == Align::kLeft) blanks_ += padding;
    blanks_ += kGap;
  }

  std::string take() { return std::move(line_) + "\n"; }

 private:
  const TextStyle& style_;
  std::size_t blanks_;
  std::string line_;
};

}  // namespace

void TextTable::add_row(std::vector<Cell> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = columns_[i].title.size();
    for (const auto& row : rows_) {
      for (const StyledText& line : row[i]) widest = std::max(widest, line.width());
    }
    widths.push_back(widest);
  }
  return widths;
}

std::string TextTable::text(const TextStyle& style, std::size_t indent) const {
  const std::vector<std::size_t> width = widths();
  LineBuilder titles(style, indent);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.add(StyledText(columns_[i].title, Tone::kFaint), width[i], columns_[i].align);
  }
  std::string out = titles.take();
  for (const auto& row : rows_) {
    std::size_t height = 1;
    for (const Cell& lines : row) height = std::max(height, lines.size());
    for (std::size_t y = 0; y < height; ++y) {
      LineBuilder line(style, indent);
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        line.add(y < row[i].size() ? row[i][y] : StyledText(), width[i], columns_[i].align);
      }
      out.append(line.take());
    }
  }
  return out;
}

}  // namespace vitrine::tools
