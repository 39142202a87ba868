// SPDX-License-Identifier: Apache-2.0
// Statements about a document that a machine checks: thresholds of users and CI, and the shapes of the paper.
//
//   single-op.issue.p50 <= 0.5us                                      every row that has the metric
//   single-op[policy=gpu-fence,payload=inline].issue.p99 <= 2 us      only these rows
//   ordering[policy=sys-fence].issue.p50 >= 2 x ordering[policy=gpu-fence].issue.p50
//
// EXPERIMENT[FILTER].METRIC.STATISTIC OP VALUE UNIT, or OP FACTOR x and another such term. FILTER names path, policy,
// lane, nic or an axis. STATISTIC: p50 p90 p99 p25 p75 min max mean iqr mad.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/document.h"

namespace marrow::measure {

struct Term {
  std::string experiment;
  std::vector<std::pair<std::string, std::string>> filter;
  std::string metric;
  std::string statistic;
};

struct Statement {
  std::string text;  // as it was written
  Term left;
  std::string op;    // <= < >= >
  double value = 0;  // a threshold, or the factor before `right`
  std::string unit;  // of a threshold
  std::optional<Term> right;
};

/// \throws util::Error of kind kUsage for what cannot be read or names no known statistic or unit.
[[nodiscard]] Statement parse_statement(const std::string& text);

/// One row's answer.
struct Checked {
  std::string row;
  bool held = false;
  std::string told;  // "0.159 us <= 0.5 us", "0.159 us, not <= 0.1 us", or that the row failed
};

/// A row that should have the metric and failed does not hold. The values' kinds of time are `kinds`' to judge.
/// \throws util::Error of kind kUsage when no row has the metric, or it is of another unit.
[[nodiscard]] std::vector<Checked> check(const Statement& statement, const Document& document);

/// The metrics that a statement speaks of, for their kinds of time. Empty when the document has none.
[[nodiscard]] std::vector<Kind> kinds_of(const Statement& statement, const Document& document);

/// Statements of a file: one a line, '#' begins a comment. \throws util::Error of kind kUsage, with file and line.
[[nodiscard]] std::vector<Statement> read_statements(const std::string& file);

}  // namespace marrow::measure
