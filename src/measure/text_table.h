// SPDX-License-Identifier: Apache-2.0
// A plain table for a terminal: columns as wide as their widest cell, never wider than the terminal in all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace marrow::measure {

struct Column {
  enum class Align { kLeft, kRight };
  std::string title;
  Align align = Align::kLeft;
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns);

  /// \throws util::Error when the number of cells is not the number of columns, of which there are two or more.
  void add(std::vector<std::string> cells);

  /// A line of its own over the rows that follow; does not widen a column.
  void add_heading(std::string text);

  /// The width that all cells need.
  [[nodiscard]] std::size_t natural_width() const;

  /// The table, each line indented by two and at most `width` columns wide. When it does not fit, the widest
  /// left-aligned column is cut and a cut cell ends in '~'. Numbers are never cut: at absurd widths they overflow.
  [[nodiscard]] std::string text(std::size_t width) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // a heading is a row of one cell
};

/// Columns on the screen: code points, as nothing here is wider than one.
[[nodiscard]] std::size_t display_width(std::string_view utf8);

/// Breaks a sentence at spaces into lines of at most `width`, each starting with `indent`.
[[nodiscard]] std::string wrapped(std::string_view sentence, std::string_view indent, std::size_t width);

}  // namespace marrow::measure
