// SPDX-License-Identifier: Apache-2.0
// Layout of text_table.h.
#include "measure/text_table.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "util/error.h"

namespace marrow::measure {
namespace {

constexpr std::size_t kGap = 2;  // between columns, and before the first
constexpr std::size_t kLeastCut = 4;

bool starts_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

std::string cut(const std::string& cell, std::size_t width) {
  if (display_width(cell) <= width) return cell;
  std::string kept;
  std::size_t columns = 0;
  for (const char c : cell) {
    if (starts_code_point(c) && ++columns == width) break;
    kept += c;
  }
  return kept + "~";
}

std::string padded(const std::string& cell, std::size_t width, Column::Align align) {
  const auto used = display_width(cell);
  const std::string fill(width > used ? width - used : 0, ' ');
  return align == Column::Align::kLeft ? cell + fill : fill + cell;
}

std::size_t total(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (const auto w : widths) sum += w + kGap;
  return sum;
}

void drop_trailing_spaces(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
}

}  // namespace

std::size_t display_width(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), starts_code_point));
}

std::string wrapped(std::string_view sentence, std::string_view indent, std::size_t width) {
  std::istringstream words{std::string(sentence)};
  std::string text;
  std::string line(indent);
  for (std::string word; words >> word;) {
    const bool first = line.size() == indent.size();
    if (!first && display_width(line) + 1 + display_width(word) > width) {
      text += line + "\n";
      line = indent;
    } else if (!first) {
      line += ' ';
    }
    line += word;
  }
  return text + line + "\n";
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add(std::vector<std::string> cells) {
  if (cells.size() != columns_.size()) {
    throw util::Error("a row of " + std::to_string(cells.size()) + " cells in a table of " +
                      std::to_string(columns_.size()) + " columns");
  }
  rows_.push_back(std::move(cells));
}

void TextTable::add_heading(std::string text) {
  rows_.push_back({std::move(text)});
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = display_width(columns_[c].title);
    for (const auto& row : rows_) {
      if (row.size() > 1) widest = std::max(widest, display_width(row[c]));
    }
    widths.push_back(widest);
  }
  return widths;
}

std::size_t TextTable::natural_width() const {
  return total(widths());
}

std::string TextTable::text(std::size_t width) const {
  auto widths = this->widths();
  while (total(widths) > width) {
    std::size_t widest = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].align != Column::Align::kLeft || widths[c] <= kLeastCut) continue;
      if (widest == columns_.size() || widths[c] > widths[widest]) widest = c;
    }
    if (widest == columns_.size()) break;  // only numbers are left
    --widths[widest];
  }
  std::string text;
  const auto line = [&](const auto& cell_of) {
    std::string one;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      one += std::string(kGap, ' ') + padded(cut(cell_of(c), widths[c]), widths[c], columns_[c].align);
    }
    drop_trailing_spaces(one);
    text += one + "\n";
  };
  line([&](std::size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) {
    if (row.size() > 1) {
      line([&](std::size_t c) { return row[c]; });
    } else {
      text += cut(" " + row.front(), width) + "\n";
    }
  }
  return text;
}

}  // namespace marrow::measure
