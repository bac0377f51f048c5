// SPDX-License-Identifier: Apache-2.0
// Rows of aligned columns, as wide as their widest cell.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tools/styled_text.h"

namespace vitrine::tools {

enum class Align : std::uint8_t { kLeft, kRight };

struct Column {
  std::string_view title;
  Align align = Align::kLeft;
};

// A cell of several lines makes its row that many lines high.
using Cell = std::vector<StyledText>;

class TextTable {
 public:
  explicit TextTable(std::initializer_list<Column> columns) : columns_(columns) {}

  // One cell for each column.
  void add_row(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }

  // The title line and the rows, each behind `indent` blanks, without blanks at line ends, and none
  // wider than `columns`.
  std::string text(const TextStyle& style, std::size_t indent,
                   std::size_t columns = kUnbounded) const;
  static constexpr std::size_t kUnbounded = ~std::size_t{0};

 private:
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// A cell of one line.
inline Cell cell(StyledText text) { return {std::move(text)}; }
inline Cell cell(std::string_view text, Tone tone) { return {StyledText(text, tone)}; }

}  // namespace vitrine::tools
