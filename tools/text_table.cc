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
  explicit LineBuilder(std::size_t indent) : blanks_(indent) {}

  void add(const StyledText& text, std::size_t width, Align align) {
    const std::size_t padding = width - text.width();
    if (align == Align::kRight) blanks_ += padding;
    if (!text.empty()) {
      line_.add(std::string(blanks_, ' ')).append(text);
      blanks_ = 0;
    }
    if (align == Align::kLeft) blanks_ += padding;
    blanks_ += kGap;
  }

  std::string take(const TextStyle& style, std::size_t columns) const {
    return line_.cut(columns, style.charset).painted(style) + "\n";
  }

 private:
  std::size_t blanks_;
  StyledText line_;
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

std::string TextTable::text(const TextStyle& style, std::size_t indent, std::size_t columns) const {
  const std::vector<std::size_t> width = widths();
  LineBuilder titles(indent);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.add(StyledText(columns_[i].title, Tone::kFaint), width[i], columns_[i].align);
  }
  std::string out = titles.take(style, columns);
  for (const auto& row : rows_) {
    std::size_t height = 1;
    for (const Cell& lines : row) height = std::max(height, lines.size());
    for (std::size_t y = 0; y < height; ++y) {
      LineBuilder line(indent);
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        line.add(y < row[i].size() ? row[i][y] : StyledText(), width[i], columns_[i].align);
      }
      out.append(line.take(style, columns));
    }
  }
  return out;
}

}  // namespace vitrine::tools
