// SPDX-License-Identifier: Apache-2.0
// Layout of people.h. Kinds of time never share a table; the software NIC's has a colour of its own.
#include "measure/people.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

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

/// What tells one record of an experiment from another, as words: path, policy, then the axes.
std::vector<std::string> words_of(const Record& record) {
  std::vector<std::string> words{record.path, record.policy};
  for (const auto& axis : record.axes) words.push_back(text_of(axis));
  return words;
}

bool in_all(std::span<const Record> records, const std::string& word) {
  return std::all_of(records.begin(), records.end(), [&](const Record& record) {
    const auto words = words_of(record);
    return std::find(words.begin(), words.end(), word) != words.end();
  });
}

/// The words that not all records share: a row's label. Empty when there is only one record.
std::string row_label(std::span<const Record> records, const Record& record) {
  std::vector<std::string> words;
  for (const auto& word : words_of(record)) {
    if (!in_all(records, word)) words.push_back(word);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string shared_words(std::span<const Record> records) {
  std::vector<std::string> words;
  for (const auto& word : words_of(records.front())) {
    if (in_all(records, word)) words.push_back(word);
  }
  return fmt::format("{}", fmt::join(words, " "));
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

std::string interval_text(const Summary& s) {
  if (!s.median_interval) return "-";
  return number_text(s.median_interval->low) + ".." + number_text(s.median_interval->high);
}

/// Which columns there is room for.
struct Layout {
  bool label = true;     // the row's label as a first column; else on a line of its own
  bool interval = true;  // of the median
};

std::vector<std::string> metric_cells(const Metric& m, Layout layout) {
  std::vector<std::string> cells{m.name, number_text(m.summary.p50)};
  if (layout.interval) cells.push_back(interval_text(m.summary));
  for (auto&& cell : {number_text(m.summary.p99), number_text(m.summary.iqr()), std::to_string(m.summary.n), m.unit,
                      paper_text(m.paper)}) {
    cells.push_back(cell);
  }
  return cells;
}

std::vector<Column> columns_of(Layout layout) {
  std::vector<Column> columns{{"metric"}, {"p50", Align::kRight}};
  if (layout.label) columns.insert(columns.begin(), Column{"what"});
  if (layout.interval) columns.push_back({"95 % of p50", Align::kRight});
  for (const auto& column : std::initializer_list<Column>{
           {"p99", Align::kRight}, {"iqr", Align::kRight}, {"n", Align::kRight}, {"unit"}, {"paper's p50"}}) {
    columns.push_back(column);
  }
  return columns;
}

TextTable table_of(std::span<const Record> records, Kind kind, Layout layout) {
  TextTable table(columns_of(layout));
  for (const auto& record : records) {
    if (!has_kind(record, kind)) continue;
    auto label = row_label(records, record);
    if (!layout.label && records.size() > 1) table.add_heading(label);
    for (const auto& metric : record.metrics) {
      if (metric.kind != kind) continue;
      auto cells = metric_cells(metric, layout);
      if (layout.label) cells.insert(cells.begin(), std::exchange(label, ""));
      table.add(std::move(cells));
    }
  }
  return table;
}

/// The widest layout that fits.
std::string fitted_table(std::span<const Record> records, Kind kind, std::size_t width) {
  for (const auto layout : {Layout{}, Layout{.label = false}}) {
    if (layout.label && records.size() == 1) continue;  // nothing to tell apart
    const auto table = table_of(records, kind, layout);
    if (table.natural_width() <= width) return table.text(width);
  }
  return table_of(records, kind, {.label = false, .interval = false}).text(width);
}

std::string kind_text(std::span<const Record> records, Kind kind, Look look) {
  const auto mine = [&](const Record& record) { return has_kind(record, kind); };
  if (std::none_of(records.begin(), records.end(), mine)) return {};
  const auto colour = kind == Kind::kCx7Sim || kind == Kind::kModel ? kSimulated : std::string_view{};
  std::string text = wrapped(fmt::format("time: {} - {}", name_of(kind), sentence_of(kind)), " ", look.width);
  text += fitted_table(records, kind, look.width);
  return painted(text, colour, look) + "\n";
}

std::string per_operation_text(const Record& record, const std::string& name) {
  for (const auto& count : record.counts.totals) {
    if (count.name != name) continue;
    return fmt::format("{:.4g}", static_cast<double>(count.total) / static_cast<double>(record.counts.operations));
  }
  return "-";
}

/// Counts that all rows share go on one line; the table has those that differ.
std::string counts_text(std::span<const Record> all, Look look) {
  std::vector<Record> counted;
  std::copy_if(all.begin(), all.end(), std::back_inserter(counted),
               [](const Record& r) { return r.counts.operations > 0 && !r.counts.totals.empty(); });
  if (counted.empty()) return {};
  std::vector<std::string> shared;
  std::vector<std::string> varying;
  for (const auto& count : counted.front().counts.totals) {
    const auto first = per_operation_text(counted.front(), count.name);
    const bool same = std::all_of(counted.begin(), counted.end(),
                                  [&](const Record& r) { return per_operation_text(r, count.name) == first; });
    (same ? shared : varying).push_back(same ? count.name + " " + first : count.name);
  }
  auto text = wrapped("counts per operation: exact, and the same on every machine", " ", look.width);
  if (!shared.empty()) text += wrapped(fmt::format("{}", fmt::join(shared, ", ")), "  ", look.width);
  if (varying.empty()) return text + "\n";
  std::vector<Column> columns{{"what"}};
  for (const auto& name : varying) columns.push_back({name, Align::kRight});
  TextTable table(columns);
  for (const auto& record : counted) {
    std::vector<std::string> cells{row_label(all, record)};
    for (const auto& name : varying) cells.push_back(per_operation_text(record, name));
    table.add(std::move(cells));
  }
  return text + table.text(look.width) + "\n";
}

/// Far samples are in every statistic; here they are said, because p50 and p99 hide them.
std::string outliers_text(std::span<const Record> records, Look look) {
  std::size_t metrics = 0;
  std::size_t most = 0;
  std::string worst;
  for (const auto& record : records) {
    for (const auto& metric : record.metrics) {
      const auto n = metric.summary.outliers.value_or(0);
      if (n == 0 || metric.summary.iqr() == 0) continue;  // where half are alike, all others would be far
      ++metrics;
      if (n <= most) continue;
      most = n;
      worst = fmt::format("{} of {} in '{}', up to {} {}", n, metric.summary.n, metric.name,
                          number_text(metric.summary.max), metric.unit);
    }
  }
  if (metrics == 0) return {};
  return wrapped(fmt::format("outliers, further than 3 iqr outside the quartiles, are kept: in {} metric{}, most {}",
                             metrics, metrics == 1 ? "" : "s", worst),
                 " ", look.width);
}

std::string runs_text(std::span<const Record> records, Look look) {
  std::size_t most = 0;
  for (const auto& record : records) most = std::max(most, record.runs);
  if (most < 2) return {};
  return wrapped(
      fmt::format("{} process runs a row: p50 and p99 are of all samples, the interval is Student's t over the "
                  "runs' medians",
                  most),
      " ", look.width);
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
  const auto shared = shared_words(records);
  if (!shared.empty()) text += wrapped((records.size() == 1 ? "the row: " : "every row: ") + shared, " ", look.width);
  text += "\n";
  for (const auto kind : {Kind::kGpu, Kind::kNic, Kind::kHostLane, Kind::kCx7Sim, Kind::kModel}) {
    text += kind_text(records, kind, look);
  }
  const auto sources = paper_sources(records);
  if (!sources.empty()) {
    text += wrapped("paper: " + sources +
                        "; there a GPU submits to a ConnectX-7 between nodes, so a value stands beside ours for its "
                        "size and its order, not as like for like",
                    " ", look.width) +
            "\n";
  }
  text += runs_text(records, look) + outliers_text(records, look);
  return text + counts_text(records, look) + notes_text(records, look);
}

std::string verdict_text(const Document& document, Look look) {
  std::array<std::size_t, 3> n{};
  std::size_t unverified = 0;
  std::size_t modelled = 0;
  for (const auto& record : document.records) {
    ++n.at(static_cast<std::size_t>(record.status));
    if (record.status != Status::kPassed) continue;
    if (is_model(record)) ++modelled;
    if (!is_model(record) && !record.verified) ++unverified;
  }
  auto text = fmt::format("{} passed, {} failed, {} waived; ", n[0], n[1], n[2]);
  if (n[0] == 0) text += "no row passed";
  if (modelled > 0) text += fmt::format("{} of them a model's, which moves no bytes", modelled);
  if (n[0] > modelled && modelled > 0) text += "; ";
  if (n[0] > modelled) {
    text += unverified == 0 ? fmt::format("the bytes of every {} row were verified at the far side",
                                          modelled > 0 ? "other passed" : "passed")
                            : fmt::format("{} of them without verified bytes", unverified);
  }
  return painted(text, n[1] > 0 ? kRed : n[0] > 0 ? kGreen : kYellow, look) + "\n";
}

}  // namespace marrow::measure
