// SPDX-License-Identifier: Apache-2.0
// See idle_results.h.
#include "experiments/proxy_idle_rtt/idle_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/common/bench.h"

namespace marrow::experiments {
namespace {

constexpr double kMostOverGda = 1.5;

double p50_of(const measure::Record& record, std::string_view name) {
  const auto at = std::find_if(record.metrics.begin(), record.metrics.end(),
                               [&](const measure::Metric& metric) { return metric.name == name; });
  return at == record.metrics.end() ? 0 : at->summary.p50;
}

void add_if_any(measure::Record& record, const char* name, measure::Kind kind, const std::vector<double>& samples) {
  if (!samples.empty()) add_time(record, name, kind, samples);
}

}  // namespace

void add_single_times(const Context& context, const SingleTimes& times, measure::Record& record) {
  const auto lane = context.gpu ? measure::Kind::kGpu : measure::Kind::kHostLane;
  record.counts.operations = times.issue_ns.size() + times.trip_ns.size();
  add_if_any(record, "enqueue", lane, times.issue_ns);
  add_if_any(record, "put+completion", context.nic_kind, times.completion_ns);
  add_if_any(record, "round trip", context.nic_kind, times.trip_ns);
}

void add_beside(const Context& context, const Beside& beside, measure::Record& record) {
  add_if_any(record, "round trip, baseline beside it", context.nic_kind, beside.baseline.trip_ns);
  add_if_any(record, "put+completion, mini-gda beside it", context.nic_kind, beside.gda.completion_ns);
  add_if_any(record, "round trip, mini-gda beside it", context.nic_kind, beside.gda.trip_ns);
  const double put = p50_of(record, "put+completion");
  const double of_gda = p50_of(record, "put+completion, mini-gda beside it");
  const double trip = p50_of(record, "round trip");
  const double of_baseline = p50_of(record, "round trip, baseline beside it");
  if (put <= 0 || of_gda <= 0 || trip <= 0 || of_baseline <= 0) return;
  record.metrics.push_back(
      {"put+completion / mini-gda's", "x", context.nic_kind, measure::summarise(std::array{put / of_gda}), {}});
  if (!context.gpu) return;
  record.expectations.push_back(
      {fmt::format("put+completion within {} times mini-gda's through the same engine: {:.2f}", kMostOverGda,
                   put / of_gda),
       put <= kMostOverGda * of_gda});
  record.expectations.push_back(
      {fmt::format("a round trip below the baseline's: {:.2f} us against {:.2f}", trip, of_baseline),
       trip < of_baseline});
}

}  // namespace marrow::experiments
