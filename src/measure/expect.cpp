// SPDX-License-Identifier: Apache-2.0
// Evaluation of statements; expect_parse.cpp reads them.
#include "measure/expect.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "measure/statistic_table.h"
#include "measure/units.h"
#include "util/error.h"

namespace marrow::measure {
namespace {

[[noreturn]] void refuse(const std::string& sentence, const std::string& hint = {}) {
  throw util::Error(sentence, util::ErrorKind::kUsage, hint);
}

/// What a filter's name stands for in a record; none when the record has no such thing.
std::optional<std::string> property(const Record& record, const std::string& name) {
  if (name == "path") return record.path;
  if (name == "policy") return record.policy;
  if (name == "lane") return record.lane;
  if (name == "nic") return record.nic;
  for (const auto& axis : record.axes) {
    if (axis.name == name) return text_of(axis).substr(name.size() + 1);
  }
  return std::nullopt;
}

bool matches(const Term& term, const Record& record) {
  return record.experiment == term.experiment &&
         std::all_of(term.filter.begin(), term.filter.end(),
                     [&](const auto& f) { return property(record, f.first) == f.second; });
}

std::vector<const Record*> rows_of(const Term& term, const Document& document) {
  std::vector<const Record*> rows;
  for (const auto& record : document.records) {
    if (matches(term, record)) rows.push_back(&record);
  }
  return rows;
}

/// Why a term names nothing: the experiment, the filter or the metric.
[[noreturn]] void refuse_absent(const Term& term, const Document& document) {
  std::set<std::string> experiments;
  std::set<std::string> metrics;
  for (const auto& record : document.records) {
    experiments.insert(record.experiment);
    if (!matches(term, record)) continue;
    for (const auto& metric : record.metrics) metrics.insert(metric.name);
  }
  if (!experiments.contains(term.experiment)) {
    refuse(fmt::format("no experiment '{}' in this document", term.experiment),
           fmt::format("one of: {}", fmt::join(experiments, ", ")));
  }
  if (rows_of(term, document).empty())
    refuse(fmt::format("no row of {} is as the filter says", term.experiment), "no filter");
  refuse(fmt::format("{} has no metric '{}' here", term.experiment, term.metric),
         metrics.empty() ? std::string("another row: these measured nothing")
                         : fmt::format("one of: {}", fmt::join(metrics, ", ")));
}

struct Value {
  const Record* record = nullptr;
  const Metric* metric = nullptr;  // null: the row failed before it had one
  double value = 0;
};

/// Each row's value. Rows that were waived, or passed without this metric, have none.
std::vector<Value> values_of(const Term& term, const Document& document) {
  std::vector<Value> values;
  bool any = false;
  for (const auto* record : rows_of(term, document)) {
    const auto* metric = metric_of(*record, term.metric);
    any = any || metric != nullptr;
    if (metric != nullptr) values.push_back({record, metric, statistic_of(metric->summary, term.statistic)});
    if (metric == nullptr && record->status == Status::kFailed) values.push_back({record, nullptr, 0});
  }
  if (!any) refuse_absent(term, document);
  return values;
}

bool holds(double left, const std::string& op, double right) {
  if (op == "<=") return left <= right;
  if (op == ">=") return left >= right;
  return op == "<" ? left < right : left > right;
}

/// What stands between two values, so that what is told is true: " <=", or ", not <=".
std::string relation_text(bool held, const std::string& op) {
  return (held ? " " : ", not ") + op;
}

double limit_in_unit_of(const Metric& metric, const Statement& statement) {
  const auto factor = factor_between(statement.unit, metric.unit);
  if (factor) return statement.value * *factor;
  refuse(fmt::format("'{}' is in {}, and the threshold in {}", metric.name, metric.unit, statement.unit),
         fmt::format("{} {} {}", statement.op, statement.value, metric.unit));
}

Checked failed_row(const Value& value) {
  return {row_of(*value.record), false, "the row failed: " + value.record->reason};
}

std::vector<Checked> check_threshold(const Statement& statement, const Document& document) {
  std::vector<Checked> all;
  for (const auto& value : values_of(statement.left, document)) {
    if (value.metric == nullptr) {
      all.push_back(failed_row(value));
      continue;
    }
    const double limit = limit_in_unit_of(*value.metric, statement);
    const bool held = holds(value.value, statement.op, limit);
    const auto& unit = value.metric->unit;
    all.push_back(
        {row_of(*value.record), held,
         fmt::format("{:.4g} {}{} {:.4g} {}", value.value, unit, relation_text(held, statement.op), limit, unit)});
  }
  return all;
}

/// Rows of one lane, NIC and engine; a ratio across them says nothing of the rows.
bool set_up_alike(const Record& a, const Record& b) {
  return a.lane == b.lane && a.nic == b.nic && a.engine == b.engine;
}

Checked check_pair(const Statement& statement, const Value& left, const Value& right) {
  if (left.metric == nullptr) return failed_row(left);
  if (right.metric == nullptr) return failed_row(right);
  if (left.metric->kind != right.metric->kind) {
    refuse(fmt::format("'{}' is {} and '{}' is {}: kinds of time are not compared", left.metric->name,
                       name_of(left.metric->kind), right.metric->name, name_of(right.metric->kind)));
  }
  const bool held = holds(left.value, statement.op, statement.value * right.value);
  const auto unit = left.metric->unit;
  return {row_of(*left.record), held,
          fmt::format("{:.4g} {}{} {:.4g} x {:.4g} {}", left.value, unit, relation_text(held, statement.op),
                      statement.value, right.value, unit)};
}

}  // namespace

std::vector<Checked> check(const Statement& statement, const Document& document) {
  if (!statement.right) return check_threshold(statement, document);
  const auto rights = values_of(*statement.right, document);
  std::vector<Checked> all;
  for (const auto& left : values_of(statement.left, document)) {
    for (const auto& right : rights) {
      if (set_up_alike(*left.record, *right.record)) all.push_back(check_pair(statement, left, right));
    }
  }
  if (all.empty()) refuse("no two of the rows have the same lane, NIC and engine", "a document of one set-up");
  return all;
}

std::vector<Kind> kinds_of(const Statement& statement, const Document& document) {
  std::vector<Kind> kinds;
  for (const auto& term : {std::optional<Term>(statement.left), statement.right}) {
    if (!term) continue;
    for (const auto* record : rows_of(*term, document)) {
      if (const auto* metric = metric_of(*record, term->metric)) kinds.push_back(metric->kind);
    }
  }
  return kinds;
}

}  // namespace marrow::measure
