// SPDX-License-Identifier: Apache-2.0
// Tables stay inside the terminal and keep their numbers.
#include "measure/text_table.h"

#include <gmock/gmock.h>

#include <sstream>

#include "util/error.h"

namespace marrow::measure {
namespace {

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

TextTable sample() {
  TextTable table({{"what"}, {"p50", Column::Align::kRight}, {"paper"}});
  table.add({"mini-gda gpu-release-store", "0.123", "P-IB 0.700"});
  table.add({"µ", "12345", ""});
  return table;
}

TEST(TextTable, ARowOfAnotherLengthIsRefused) {
  auto table = sample();
  EXPECT_THROW(table.add({"one cell"}), util::Error);
}

TEST(TextTable, ColumnsLineUpAndNumbersStandRight) {
  EXPECT_EQ(sample().text(80),
            "  what                          p50  paper\n"
            "  mini-gda gpu-release-store  0.123  P-IB 0.700\n"
            "  µ                           12345\n");
}

TEST(TextTable, NeverWiderThanTheTerminalAndNumbersAreNeverCut) {
  for (std::size_t width = 24; width < 60; ++width) {
    const auto text = sample().text(width);
    EXPECT_LE(widest_line(text), width) << text;
    EXPECT_THAT(text, ::testing::HasSubstr("12345"));
  }
  EXPECT_THAT(sample().text(30), ::testing::HasSubstr("~"));
}

TEST(TextTable, AnAbsurdWidthOverflowsInsteadOfLoopingOrCuttingNumbers) {
  EXPECT_THAT(sample().text(1), ::testing::HasSubstr("12345"));
}

TEST(Wrapped, BreaksAtSpacesAndKeepsLongWords) {
  EXPECT_EQ(wrapped("one two three", "  ", 9), "  one two\n  three\n");
  EXPECT_EQ(wrapped("extraordinary", "  ", 5), "  extraordinary\n");
  EXPECT_EQ(wrapped("", "  ", 5), "  \n");
}

}  // namespace
}  // namespace marrow::measure
