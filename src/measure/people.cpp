// SPDX-License-Identifier: Apache-2.0
// Layout of people.h. Kinds of time never share a table; the software NIC's has a colour of its own.
#include "measure/people.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "measure/text_table.h"

namespace marrow::measure {
namespace {

constexpr std::string_view kReset = "\x1b[0m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kSimulated = "\x1b[36m";
using Align = Column::Align;

std::string painted(std::string_view text, std::string_view colour, Look look) {
  if (!look.colour || colour.empty()) return std::string(text);
  return fmt::format("{}{}{}", colour, text, kReset);
}

/// Names of the axes whose value differs between the records: only those are in a row's label.
std::set<std::string> varying_axes(std::span<const Record> records) {
  std::set<std::string> varying;
  for (const auto& record : records) {
    for (const auto& axis : record.axes) {
      const auto same = [&](const Record& other) {
        return std::any_of(other.axes.begin(), other.axes.end(),
                           [&](const Axis& a) { return a.name == axis.name && a.value == axis.value; });
      };
      if (!std::all_of(records.begin(), records.end(), same)) varying.insert(axis.name);
    }
  }
  return varying;
}

std::string row_label(const Record& record, const std::set<std::string>& varying) {
  std::string label = record.path + " " + record.policy;
  for (const auto& axis : record.axes) {
    if (varying.contains(axis.name)) label += " " + text_of(axis);
  }
  return label;
}

std::string paper_text(const std::vector<PaperValue>& paper) {
  std::string text;
  for (const auto& p : paper) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", p.platform, number_text(p.value));
    if (p.to) text += "-" + number_text(*p.to);
  }
  return text;
}

std::string paper_sources(std::span<const Record> records) {
  std::set<std::string> sources;
  for (const auto& record : records) {
    for (const auto& metric : record.metrics) {
      for (const auto& p : metric.paper) sources.insert(p.source);
    }
  }
  return fmt::format("{}", fmt::join(sources, "; "));
}

bool has_kind(const Record& record, Kind kind) {
  return std::any_of(record.metrics.begin(), record.metrics.end(), [&](const Metric& m) { return m.kind == kind; });
}

std::vector<std::string> metric_cells(const Metric& m) {
  return {m.name,
          number_text(m.summary.p50),
          number_text(m.summary.p99),
          number_text(m.summary.iqr()),
          std::to_string(m.summary.n),
          m.unit,
          paper_text(m.paper)};
}

const std::vector<Column> kMetricColumns{
    {"metric"}, {"p50", Align::kRight}, {"p99", Align::kRight}, {"iqr", Align::kRight}, {"n", Align::kRight},
    {"unit"},   {"paper's p50"}};

/// One table of a kind, with the label of a row as its first column.
TextTable wide_table(std::span<const Record> records, Kind kind, const std::set<std::string>& varying) {
  auto columns = kMetricColumns;
  columns.insert(columns.begin(), Column{"what"});
  TextTable table(columns);
  for (const auto& record : records) {
    auto label = row_label(record, varying);
    for (const auto& metric : record.metrics) {
      if (metric.kind != kind) continue;
      auto cells = metric_cells(metric);
      cells.insert(cells.begin(), std::exchange(label, ""));
      table.add(std::move(cells));
    }
  }
  return table;
}

/// The same for a narrow terminal: each record's label on a line of its own.
std::string narrow_table(std::span<const Record> records, Kind kind, const std::set<std::string>& varying,
                         std::size_t width) {
  std::string text;
  for (const auto& record : records) {
    if (!has_kind(record, kind)) continue;
    TextTable table(kMetricColumns);
    for (const auto& metric : record.metrics) {
      if (metric.kind == kind) table.add(metric_cells(metric));
    }
    text += wrapped(row_label(record, varying), " ", width) + table.text(width);
  }
  return text;
}

std::string kind_text(std::span<const Record> records, Kind kind, Look look) {
  const auto mine = [&](const Record& record) { return has_kind(record, kind); };
  if (std::none_of(records.begin(), records.end(), mine)) return {};
  const auto colour = kind == Kind::kCx7Sim ? kSimulated : std::string_view{};
  std::string text = wrapped(fmt::format("time: {} - {}", name_of(kind), sentence_of(kind)), " ", look.width);
  const auto varying = varying_axes(records);
  const auto table = wide_table(records, kind, varying);
  const bool fits = table.natural_width() <= look.width;
  text += fits ? table.text(look.width) : narrow_table(records, kind, varying, look.width);
  return painted(text, colour, look) + "\n";
}

std::string counts_text(std::span<const Record> records, Look look) {
  std::vector<Column> columns{{"per operation"}};
  std::vector<std::string> names;
  for (const auto& record : records) {
    for (const auto& count : record.counts.totals) {
      if (std::find(names.begin(), names.end(), count.name) == names.end()) names.push_back(count.name);
    }
  }
  if (names.empty()) return {};
  for (const auto& name : names) columns.push_back({name, Align::kRight});
  TextTable table(columns);
  const auto varying = varying_axes(records);
  for (const auto& record : records) {
    if (record.counts.operations == 0) continue;
    std::vector<std::string> cells{row_label(record, varying)};
    for (const auto& name : names) {
      const auto& totals = record.counts.totals;
      const auto at = std::find_if(totals.begin(), totals.end(), [&](const Count& c) { return c.name == name; });
      const auto operations = static_cast<double>(record.counts.operations);
      cells.push_back(at == totals.end() ? "-" : fmt::format("{:.4g}", static_cast<double>(at->total) / operations));
    }
    table.add(std::move(cells));
  }
  return wrapped("counts: exact, and the same on every machine", " ", look.width) + table.text(look.width) + "\n";
}

/// What needs words: failures, waivers, expectations and warnings.
std::string notes_text(std::span<const Record> records, Look look) {
  std::string text;
  for (const auto& record : records) {
    if (record.status != Status::kPassed) {
      const auto line = fmt::format("{}: {}: {}", name_of(record.status), label_of(record), record.reason);
      text += painted(wrapped(line, " ", look.width), record.status == Status::kFailed ? kRed : kYellow, look);
    }
    for (const auto& e : record.expectations) {
      text += painted(wrapped(fmt::format("expect: {}: {}", e.text, e.held ? "held" : "NOT HELD"), " ", look.width),
                      e.held ? kGreen : kRed, look);
    }
    for (const auto& warning : record.warnings) text += wrapped("warning: " + warning, " ", look.width);
  }
  return text;
}

std::string constant_axes(std::span<const Record> records) {
  if (records.empty()) return {};
  const auto varying = varying_axes(records);
  std::string text;
  for (const auto& axis : records.front().axes) {
    if (!varying.contains(axis.name)) text += (text.empty() ? "" : " ") + text_of(axis);
  }
  return text;
}

}  // namespace

std::string number_text(double value) {
  const auto size = std::abs(value);
  if (size >= 1000 || value == std::floor(value)) return fmt::format("{:.0f}", value);
  if (size >= 100) return fmt::format("{:.1f}", value);
  if (size >= 10) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3f}", value);
}

std::string header_text(const Environment& environment, Look look) {
  std::string text;
  for (const auto& fact : facts_of(environment)) {
    const auto lines = wrapped(fact.value, "                ", look.width);
    text += fmt::format("  {:<14}{}", fact.name, lines.substr(16));
  }
  return text;
}

std::string experiment_text(std::span<const Record> records, const Heading& heading, Look look) {
  std::string text = painted(heading.name + ": " + heading.title, kBold, look) + "\n";
  text += wrapped(heading.question, " ", look.width);
  const auto constant = constant_axes(records);
  if (!constant.empty()) text += wrapped("all rows: " + constant, " ", look.width);
  text += "\n";
  for (const auto kind : {Kind::kGpu, Kind::kNic, Kind::kHostLane, Kind::kCx7Sim}) {
    text += kind_text(records, kind, look);
  }
  const auto sources = paper_sources(records);
  if (!sources.empty()) {
    text += wrapped("paper: " + sources +
                        "; there a GPU submits to a ConnectX-7 between two nodes, so a value stands beside ours for "
                        "its size and its order, not as like for like",
                    " ", look.width) +
            "\n";
  }
  return text + counts_text(records, look) + notes_text(records, look);
}

std::string verdict_text(const Document& document, Look look) {
  std::array<std::size_t, 3> n{};
  std::size_t unverified = 0;
  for (const auto& record : document.records) {
    ++n.at(static_cast<std::size_t>(record.status));
    if (record.status == Status::kPassed && !record.verified) ++unverified;
  }
  const auto text = fmt::format("{} passed, {} failed, {} waived; {}", n[0], n[1], n[2],
                                n[0] == 0         ? "nothing was measured"
                                : unverified == 0 ? "the bytes of every passed row were verified at the far side"
                                                  : fmt::format("{} of them without verified bytes", unverified));
  return painted(text, n[1] > 0 ? kRed : n[0] > 0 ? kGreen : kYellow, look) + "\n";
}

}  // namespace marrow::measure
