// SPDX-License-Identifier: Apache-2.0
// See thresholds.h.
#include "cli/thresholds.h"

#include <fmt/format.h>

#include <algorithm>

#include "measure/text_table.h"

namespace marrow::cli {
namespace {

bool held(const Answer& answer) {
  return std::all_of(answer.rows.begin(), answer.rows.end(), [](const auto& row) { return row.held; });
}

}  // namespace

std::vector<measure::Statement> statements_of(const std::vector<std::string>& texts, const std::string& file) {
  std::vector<measure::Statement> statements;
  for (const auto& text : texts) statements.push_back(measure::parse_statement(text));
  if (file.empty()) return statements;
  for (auto& statement : measure::read_statements(file)) statements.push_back(std::move(statement));
  return statements;
}

std::vector<Answer> answers_of(const std::vector<measure::Statement>& statements, const measure::Document& document) {
  std::vector<Answer> answers;
  for (const auto& statement : statements) answers.push_back({statement.text, measure::check(statement, document)});
  return answers;
}

bool all_held(const std::vector<Answer>& answers) {
  return std::all_of(answers.begin(), answers.end(), held);
}

std::string answers_text(const std::vector<Answer>& answers, measure::Look look) {
  std::string text;
  for (const auto& answer : answers) {
    text += measure::wrapped(fmt::format("expect: {}: {}", answer.text, held(answer) ? "held" : "NOT HELD"), " ",
                             look.width);
    for (const auto& row : answer.rows) {
      if (!row.held) text += measure::wrapped(fmt::format("{}: {}", row.row, row.told), "   ", look.width);
    }
  }
  return text;
}

}  // namespace marrow::cli
