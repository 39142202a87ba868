// SPDX-License-Identifier: Apache-2.0
// From text to statements; expect.h has the form.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "measure/expect.h"
#include "measure/statistic_table.h"
#include "measure/units.h"
#include "util/error.h"
#include "util/read_file.h"

namespace marrow::measure {
namespace {

constexpr const char* kExample = "'single-op.issue.p50 <= 0.5us'";

[[noreturn]] void refuse(const std::string& sentence, const std::string& hint = kExample) {
  throw util::Error(sentence, util::ErrorKind::kUsage, hint);
}

std::string trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\r");
  if (from == std::string_view::npos) return {};
  return std::string(text.substr(from, text.find_last_not_of(" \t\r") - from + 1));
}

/// "policy=gpu-fence,payload=inline"
std::vector<std::pair<std::string, std::string>> parse_filter(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> filter;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto one = text.substr(0, comma);
    const auto equals = one.find('=');
    if (equals == std::string_view::npos) refuse(fmt::format("the filter '{}' is not of the form NAME=VALUE", one));
    filter.emplace_back(trimmed(one.substr(0, equals)), trimmed(one.substr(equals + 1)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return filter;
}

Term parse_term(std::string_view text) {
  Term term;
  const auto head = text.find_first_of(".[");
  if (head == std::string_view::npos) refuse(fmt::format("'{}' is not of the form EXPERIMENT.METRIC.STATISTIC", text));
  term.experiment = trimmed(text.substr(0, head));
  auto rest = text.substr(head);
  if (rest.starts_with('[')) {
    const auto end = rest.find(']');
    if (end == std::string_view::npos) refuse(fmt::format("'{}' opens a filter and does not close it", text));
    term.filter = parse_filter(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
  }
  const auto last = rest.rfind('.');
  if (!rest.starts_with('.') || last == 0)
    refuse(fmt::format("'{}' is not of the form EXPERIMENT.METRIC.STATISTIC", text));
  term.metric = trimmed(rest.substr(1, last - 1));
  term.statistic = trimmed(rest.substr(last + 1));
  if (is_statistic(term.statistic)) return term;
  refuse(fmt::format("no statistic '{}'; known: {}", term.statistic, fmt::join(statistic_names(), ", ")));
}

/// "2 x ordering.issue.p50", "ordering.issue.p50" or "0.5us".
void parse_right(const std::string& text, Statement& statement) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool has_number = end != text.c_str();
  const auto rest = trimmed(end);
  if (!has_number) {
    statement.value = 1;
    statement.right = parse_term(text);
    return;
  }
  if (!std::isfinite(number)) refuse(fmt::format("'{}' is no threshold", text));
  statement.value = number;
  if (rest.starts_with("x ")) {
    statement.right = parse_term(trimmed(rest.substr(2)));
    return;
  }
  if (rest.empty())
    refuse(fmt::format("the threshold {} has no unit", text), fmt::format("{}us, or another unit", text));
  if (!factor_between(rest, rest))
    refuse(fmt::format("unknown unit '{}'; known: {}", rest, fmt::join(unit_names(), ", ")));
  statement.unit = rest;
}

}  // namespace

Statement parse_statement(const std::string& text) {
  Statement statement{.text = trimmed(text)};
  const auto filter_end = text.find(']');
  const auto at = text.find_first_of("<>", filter_end == std::string::npos ? 0 : filter_end);
  if (at == std::string::npos) refuse(fmt::format("'{}' has no <=, <, >= or >", statement.text));
  const bool with_equals = at + 1 < text.size() && text[at + 1] == '=';
  statement.op = text.substr(at, with_equals ? 2 : 1);
  statement.left = parse_term(trimmed(text.substr(0, at)));
  const auto right = trimmed(text.substr(at + statement.op.size()));
  if (right.empty()) refuse(fmt::format("'{}' ends before its threshold", statement.text));
  parse_right(right, statement);
  return statement;
}

std::vector<Statement> read_statements(const std::string& file) {
  std::istringstream in(util::read_file(file, util::kMiB, "a file with one threshold a line"));
  std::vector<Statement> all;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const auto text = trimmed(line.substr(0, line.find('#')));
    if (text.empty()) continue;
    try {
      all.push_back(parse_statement(text));
    } catch (const util::Error& problem) {
      refuse(fmt::format("{}:{}: {}", file, number, problem.what()), problem.hint());
    }
  }
  if (all.empty()) refuse(fmt::format("{} holds no threshold", file), "a file with one threshold a line");
  return all;
}

}  // namespace marrow::measure
