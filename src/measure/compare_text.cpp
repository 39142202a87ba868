// SPDX-License-Identifier: Apache-2.0
// Layout of compare_text.h.
#include "measure/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "measure/text_table.h"

namespace marrow::measure {
namespace {

constexpr std::array<Verdict, 5> kOrder{Verdict::kWorse, Verdict::kBetter, Verdict::kDiffers, Verdict::kNoise,
                                        Verdict::kUntested};

std::string interval_text(const Compared& m) {
  if (!m.interval) return m.test == Method::kExact ? "exact" : "-";
  const auto digits = [&](double v) { return m.ratio ? fmt::format("{:.3f}", v) : fmt::format("{:+.3g}", v); };
  return fmt::format("{} to {}", digits(m.interval->low), digits(m.interval->high));
}

TextTable table_of(const Comparison& comparison, Kind kind, const CompareLook& how) {
  using Align = Column::Align;
  const auto interval = fmt::format("{:.0f} % interval", how.limits.confidence * 100);
  TextTable table({{"metric"},
                   {"A p50", Align::kRight},
                   {"B p50", Align::kRight},
                   {"unit"},
                   {"B/A of p50", Align::kRight},
                   {interval, Align::kRight},
                   {"verdict"},
                   {"test"}});
  std::string row;
  for (const auto& m : comparison.metrics) {
    if (m.kind != kind || (!how.all && (m.verdict == Verdict::kNoise || m.verdict == Verdict::kUntested))) continue;
    if (m.row != row) table.add_heading(m.row);
    row = m.row;
    table.add({m.metric, number_text(m.a), number_text(m.b), m.unit, m.ratio ? fmt::format("{:.3f}", *m.ratio) : "-",
               interval_text(m), std::string(name_of(m.verdict)), std::string(name_of(m.test))});
  }
  return table;
}

bool shown(const Comparison& comparison, Kind kind, bool all) {
  return std::any_of(comparison.metrics.begin(), comparison.metrics.end(), [&](const Compared& m) {
    return m.kind == kind && (all || (m.verdict != Verdict::kNoise && m.verdict != Verdict::kUntested));
  });
}

std::string tests_text(const Comparison& comparison, Look look) {
  std::string text;
  for (const auto test : {Method::kRuns, Method::kOneAgainstRuns, Method::kBlocks, Method::kExact, Method::kNone}) {
    const bool used = std::any_of(comparison.metrics.begin(), comparison.metrics.end(),
                                  [&](const Compared& m) { return m.test == test; });
    if (used) text += wrapped(fmt::format("test: {} - {}", name_of(test), sentence_of(test)), " ", look.width);
  }
  return text;
}

std::string counts_text(const Comparison& comparison) {
  std::string text;
  for (const auto verdict : kOrder) {
    const auto n = comparison.count(verdict);
    if (n > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, name_of(verdict));
  }
  return text.empty() ? "nothing in common" : text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const CompareLook& how) {
  std::string text;
  for (const auto kind : {Kind::kGpu, Kind::kNic, Kind::kHostLane, Kind::kCx7Sim}) {
    if (!shown(comparison, kind, how.all)) continue;
    text += wrapped(fmt::format("time: {} - {}", name_of(kind), sentence_of(kind)), " ", how.look.width);
    text += table_of(comparison, kind, how).text(how.look.width) + "\n";
  }
  for (const auto& loss : comparison.losses) text += wrapped("worse: " + loss, " ", how.look.width);
  for (const auto& note : comparison.notes) text += wrapped("note: " + note, " ", how.look.width);
  text += tests_text(comparison, how.look);
  text +=
      wrapped(fmt::format("noise: the ratio is within {:.3g} % of 1, or its {:.0f} % interval holds 1 (where B - A is "
                          "compared: 0), or they are one step of the clock apart",
                          how.limits.least * 100, how.limits.confidence * 100),
              " ", how.look.width);
  return text + fmt::format("{} metrics: {}\n", comparison.metrics.size(), counts_text(comparison));
}

}  // namespace marrow::measure
