// SPDX-License-Identifier: Apache-2.0
// See windows.h. Differences are of the two halves of one pair, so that a drift of the clock falls on both.
#include "experiments/null/windows.h"

#include <array>

#include "util/error.h"

namespace marrow::experiments {
namespace {

using measure::Kind;

double span_of(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(to - from);
}

double issue(const NullStamps& s) {
  return span_of(s.window.start, s.window.issued);
}
double completion(const NullStamps& s) {
  return span_of(s.window.start, s.window.completed);
}
double reading(const NullStamps& s) {
  return span_of(s.bare.start, s.bare.issued);
}
double added_to_issue(const NullStamps& s) {
  return issue(s) - reading(s);
}
double added_to_completion(const NullStamps& s) {
  return completion(s) - span_of(s.bare.start, s.bare.completed);
}

struct Column {
  const char* name;
  double (*ticks)(const NullStamps&);
};
constexpr std::array<Column, 5> kTimes{{{"issue, nothing inside", issue},
                                        {"put+completion, nothing inside", completion},
                                        {"clock reading", reading},
                                        {"added to issue", added_to_issue},
                                        {"added to put+completion", added_to_completion}}};
constexpr std::array<Column, 2> kCycles{
    {{"cycles added to issue", added_to_issue}, {"cycles added to put+completion", added_to_completion}}};

measure::Summary summary_of(const std::vector<NullStamps>& stamps, const Column& column) {
  std::vector<double> values;
  values.reserve(stamps.size());
  for (const auto& s : stamps) values.push_back(column.ticks(s));
  return measure::summarise(values);
}

}  // namespace

void add_windows(measure::Record& record, Kind kind, const std::vector<NullStamps>& stamps, double ns_per_tick) {
  if (stamps.empty()) throw util::Error("the run was stopped before the first window");
  constexpr double kMicrosecondsPerNs = 1e-3;
  for (const auto& column : kTimes) {
    const auto summary = summary_of(stamps, column).scaled(ns_per_tick * kMicrosecondsPerNs);
    record.metrics.push_back({column.name, "us", kind, summary, {}});
  }
  if (kind != Kind::kGpu) return;  // a tick of the TSC is no cycle of the core
  for (const auto& column : kCycles)
    record.metrics.push_back({column.name, "cycles", kind, summary_of(stamps, column), {}});
}

}  // namespace marrow::experiments
