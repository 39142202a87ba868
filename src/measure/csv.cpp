// SPDX-License-Identifier: Apache-2.0
// Columns of csv.h. Numbers have as many digits as their value needs to come back whole.
#include "measure/csv.h"

#include <fmt/format.h>

#include <vector>

#include "measure/statistic_table.h"

namespace marrow::measure {
namespace {

using Cells = std::vector<std::string>;

std::string line_of(const Cells& cells) {
  std::string line;
  for (const auto& cell : cells) line += (line.empty() ? "" : ",") + csv_cell(cell);
  return line + "\r\n";
}

std::string axes_text(const Record& record) {
  std::string text;
  for (const auto& axis : record.axes) text += (text.empty() ? "" : " ") + text_of(axis);
  return text;
}

Cells head_of(const Record& r) {
  return {r.experiment,
          r.path,
          r.policy,
          axes_text(r),
          r.lane,
          r.nic,
          std::string(name_of(r.status)),
          r.reason,
          std::to_string(r.runs),
          r.warmup ? std::to_string(*r.warmup) : ""};
}

Cells metric_cells(const Metric& m) {
  const auto& s = m.summary;
  Cells cells{m.name, std::string(name_of(m.kind)), m.unit, std::to_string(s.n)};
  for (const auto& statistic : kAllStatistics) {
    const bool unknown = statistic.name == "mad" && !s.mad;
    cells.push_back(unknown ? "" : fmt::format("{}", statistic.of(s)));
  }
  cells.push_back(s.median_interval ? fmt::format("{}", s.median_interval->low) : "");
  cells.push_back(s.median_interval ? fmt::format("{}", s.median_interval->high) : "");
  cells.push_back(s.outliers ? std::to_string(*s.outliers) : "");
  return cells;
}

Cells titles() {
  Cells cells{"experiment", "path", "policy", "axes",   "lane", "nic",  "status",
              "reason",     "runs", "warmup", "metric", "kind", "unit", "n"};
  for (const auto& statistic : kAllStatistics) cells.emplace_back(statistic.name);
  for (const auto* title : {"p50 ci95 low", "p50 ci95 high", "outliers"}) cells.emplace_back(title);
  return cells;
}

}  // namespace

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string to_csv(const Document& document) {
  const auto all = titles();
  auto text = line_of(all);
  for (const auto& record : document.records) {
    const auto head = head_of(record);
    for (const auto& metric : record.metrics) {
      auto cells = head;
      for (auto& cell : metric_cells(metric)) cells.push_back(std::move(cell));
      text += line_of(cells);
    }
    if (!record.metrics.empty()) continue;
    auto cells = head;
    cells.resize(all.size());
    text += line_of(cells);
  }
  return text;
}

std::string to_csv(const Comparison& comparison) {
  auto text = line_of({"row", "metric", "kind", "unit", "a p50", "b p50", "b/a of p50", "ci99 low", "ci99 high",
                       "interval of", "verdict", "test"});
  for (const auto& m : comparison.metrics) {
    text +=
        line_of({m.row, m.metric, std::string(name_of(m.kind)), m.unit, fmt::format("{}", m.a), fmt::format("{}", m.b),
                 m.ratio ? fmt::format("{}", *m.ratio) : "", m.interval ? fmt::format("{}", m.interval->low) : "",
                 m.interval ? fmt::format("{}", m.interval->high) : "",
                 !m.interval ? ""
                 : m.ratio   ? "b/a"
                             : "b-a",
                 std::string(name_of(m.verdict)), std::string(name_of(m.test))});
  }
  return text;
}

}  // namespace marrow::measure
