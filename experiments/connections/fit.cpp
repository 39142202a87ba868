// SPDX-License-Identifier: Apache-2.0
// See fit.h.
#include "experiments/connections/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "experiments/connections/connections.h"
#include "measure/paper.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

/// Rows whose values the parameters were chosen by; every other one is a prediction.
constexpr std::array<std::string_view, 8> kFittedRows{
    "connections-reuse-payload: rc, round-robin, role=both visit=32 bytes=8 connections=4096",
    "connections-role: rc, round-robin, role=send bytes=8 connections=4096",
    "connections-role: rc, round-robin, role=send bytes=8 connections=32768",
    "connections-role: rc, round-robin, role=both bytes=8 connections=64",
    "connections-role: rc, round-robin, role=both bytes=8 connections=4096",
    "connections-role: rc, round-robin, role=both bytes=8 connections=32768",
    "connections-all-to-all: rc, round-robin, endpoints=32 visit=1 connections=1984",
    "connections-all-to-all: rc, round-robin, endpoints=32 visit=1 connections=2976"};
/// Those of them that give the parameters of fitted().
constexpr std::size_t kFirstShared = 4;
/// Of Table 16, where sending alone tells what a packet adds to its payload.
constexpr std::string_view kFittedPayload = "connections-reuse-payload: rc, round-robin, role=send";

bool is_fitted(const std::string& row) {
  return row.starts_with(kFittedPayload) || std::find(kFittedRows.begin(), kFittedRows.end(), row) != kFittedRows.end();
}

bool is_shared(const std::string& row) {
  return std::find(kFittedRows.begin() + kFirstShared, kFittedRows.end(), row) != kFittedRows.end();
}

bool is_wanted(const std::string& row, Which which) {
  return which == Which::kAll || (which == Which::kFitted ? is_fitted(row) : is_shared(row));
}

/// A variant by the values of the sweep, which there is at most one of.
std::vector<Point> points_of(const Experiment& experiment) {
  std::vector<Point> points;
  for (const auto& variant : experiment.variants) {
    const Point point{variant.path, variant.policy, variant.axes};
    if (experiment.sweeps.empty()) points.push_back(point);
    for (const auto& sweep : experiment.sweeps) {
      for (const auto value : sweep.values) {
        points.push_back(point);
        points.back().axes.push_back({sweep.name, value});
      }
    }
  }
  return points;
}

/// Metrics that the paper prints a value for; all of them, where the row has one, for a row is what costs time.
constexpr std::array<std::string_view, 4> kMetrics{"message rate", "goodput", "rate / two-peer rate", "onset"};

bool has_paper_value(const measure::Record& record) {
  return std::any_of(kMetrics.begin(), kMetrics.end(),
                     [&](std::string_view metric) { return !measure::paper_values(record, metric).empty(); });
}

void add_metrics(measure::Record& record, std::vector<Compared>& out) {
  measure::add_paper_values(record);
  for (const auto& metric : record.metrics) {
    if (std::find(kMetrics.begin(), kMetrics.end(), metric.name) == kMetrics.end()) continue;
    for (const auto& paper : metric.paper) {
      const double value = paper.to ? (paper.value + *paper.to) / 2 : paper.value;
      const auto row = measure::row_of(record);
      out.push_back({row, metric.name, is_fitted(row), value, metric.summary.p50});
    }
  }
}

/// The parameters that several points share. The others stand in a point each: docs/connections.md has the arithmetic.
model::Profile with(model::Profile profile, const std::vector<double>& parameters) {
  const auto sets = std::max(1.0, std::round(parameters[0] / profile.cache_ways));
  profile.cache_entries = static_cast<std::uint32_t>(sets) * profile.cache_ways;
  profile.receive.miss_ns = parameters[1];
  profile.doorbell_ns = parameters[2];
  return profile;
}

}  // namespace

std::vector<Compared> compared_with_paper(const model::Profile& profile, Which which) {
  Context context{.iterations = 1, .profile = std::make_shared<const model::Profile>(profile)};
  std::vector<Compared> all;
  for (const auto& experiment : {connections_role(), connections_reuse_payload(), connections_all_to_all()}) {
    for (const auto& point : points_of(experiment)) {
      auto record = blank_record(experiment, point, context);
      if (!has_paper_value(record) || !is_wanted(measure::row_of(record), which)) continue;
      experiment.run(context, point, record);
      add_metrics(record, all);
    }
  }
  return all;
}

double squared_error(const std::vector<Compared>& points) {
  double sum = 0;
  for (const auto& point : points) sum += std::pow(std::log(point.model / point.paper), 2);
  return sum;
}

model::Profile fitted(model::Profile profile, const std::function<void(const model::Profile&, double)>& told) {
  const auto residuals = [&](const std::vector<double>& parameters) {
    std::vector<double> all;
    for (const auto& point : compared_with_paper(with(profile, parameters), Which::kShared)) {
      all.push_back(std::log(point.model / point.paper));
    }
    return all;
  };
  const auto tell = [&](const std::vector<double>& parameters, double sum) {
    if (told) told(with(profile, parameters), sum);
  };
  const std::vector<double> start{static_cast<double>(profile.cache_entries), profile.receive.miss_ns,
                                  profile.doorbell_ns};
  return with(profile, least_squares(residuals, start, tell));
}

}  // namespace marrow::experiments
