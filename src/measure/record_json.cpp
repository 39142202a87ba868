// SPDX-License-Identifier: Apache-2.0
// The JSON form of one record. Reading is needed because each experiment runs in a process of its own and hands its
// records over as text.
#include "measure/record_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "util/error.h"

namespace marrow::measure {
namespace {

using Member = double Summary::*;
struct Statistic {
  const char* key;
  Member member;
};
constexpr std::array<Statistic, 8> kStatistics{{{"p50", &Summary::p50},
                                                {"p90", &Summary::p90},
                                                {"p99", &Summary::p99},
                                                {"min", &Summary::min},
                                                {"max", &Summary::max},
                                                {"mean", &Summary::mean},
                                                {"p25", &Summary::p25},
                                                {"p75", &Summary::p75}}};

double finite(double value, const char* key) {
  if (std::isfinite(value)) return value;
  throw util::Error(std::string("refusing to write '") + key + "': its value is not a finite number");
}

/// Exact: an integer where the total divides evenly, as every count of one operation does.
Json per_operation(std::uint64_t total, std::uint64_t operations) {
  if (operations == 0) throw util::Error("counts over zero operations cannot be given per operation");
  if (total % operations == 0) return total / operations;
  return static_cast<double>(total) / static_cast<double>(operations);
}

Json paper_json(const std::vector<PaperValue>& paper) {
  Json list = Json::array();
  for (const auto& p : paper) {
    Json value{{"value", finite(p.value, "paper")}, {"unit", p.unit}, {"platform", p.platform}, {"source", p.source}};
    if (p.to) value["to"] = finite(*p.to, "paper");
    list.push_back(std::move(value));
  }
  return list;
}

constexpr std::array<const char*, 3> kIntervalNames{"none", "order statistics", "runs"};

Json spread_json(const Summary& s) {
  Json spread{{"iqr", finite(s.iqr(), "iqr")}, {"mad", nullptr}, {"outliers", nullptr}, {"median_ci95", nullptr}};
  if (s.mad) spread["mad"] = finite(*s.mad, "mad");
  if (s.outliers) spread["outliers"] = *s.outliers;
  if (s.median_interval) spread["median_ci95"] = {s.median_interval->low, s.median_interval->high};
  spread["ci95_by"] = kIntervalNames.at(static_cast<std::size_t>(s.interval_by));
  return spread;
}

Json runs_json(const std::vector<ProcessRun>& runs) {
  Json list = Json::array();
  for (const auto& run : runs) list.push_back({{"n", run.n}, {"p50", finite(run.p50, "p50 of a run")}});
  return list;
}

Json metric_json(const Metric& metric, Raw raw) {
  const auto& s = metric.summary;
  if (s.n == 0) throw util::Error("metric '" + metric.name + "' has no sample");
  Json json{{"name", metric.name}, {"unit", metric.unit}, {"kind", name_of(metric.kind)}, {"n", s.n}};
  for (const auto& statistic : kStatistics) json[statistic.key] = finite(s.*statistic.member, statistic.key);
  json["spread"] = spread_json(s);
  json["runs"] = runs_json(s.runs);
  json["blocks"] = s.blocks;
  if (raw == Raw::kWrite && !s.samples.empty()) json["samples"] = s.samples;
  json["paper"] = paper_json(metric.paper);
  return json;
}

Json axes_json(const std::vector<Axis>& axes) {
  Json json = Json::object();
  for (const auto& axis : axes) {
    std::visit([&](const auto& value) { json[axis.name] = value; }, axis.value);
  }
  return json;
}

Json counts_json(const Counts& counts) {
  Json json = Json::object();
  for (const auto& count : counts.totals) json[count.name] = per_operation(count.total, counts.operations);
  return json;
}

/// What a reader says, with where in the document it stands.
template <typename Read>
void within(const std::string& place, Read&& read) {
  try {
    read();
  } catch (const nlohmann::json::exception& problem) {
    throw util::Error(fmt::format("{}: {}", place, problem.what()));
  } catch (const util::Error& problem) {
    throw util::Error(fmt::format("{}: {}", place, problem.what()));
  }
}

const Json& value_at(const Json& json, const char* key) {
  if (json.is_object() && json.contains(key)) return json[key];
  throw util::Error(fmt::format("'{}' is missing", key));
}

struct Limits {
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// JSON's numbers are doubles to most programs; 1e30, -1, 0.5 and 2^64 count nothing. \throws util::Error.
std::int64_t whole_number(const Json& value, std::string_view key, Limits limits = {}) {
  const bool fits =
      value.is_number_integer() &&
      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= static_cast<std::uint64_t>(limits.most));
  if (fits && value.get<std::int64_t>() >= limits.least && value.get<std::int64_t>() <= limits.most) {
    return value.get<std::int64_t>();
  }
  throw util::Error(
      fmt::format("'{}' is {}, not a whole number from {} to {}", key, value.dump(), limits.least, limits.most));
}
std::size_t count_at(const Json& json, const char* key, Limits limits = {}) {
  return static_cast<std::size_t>(whole_number(value_at(json, key), key, limits));
}

double number_at(const Json& json, const char* key) {
  const auto& value = value_at(json, key);
  if (value.is_number()) return value.get<double>();
  throw util::Error(fmt::format("'{}' is {}, not a number", key, value.dump()));
}

const Json& list_at(const Json& json, const char* key) {
  const auto& value = value_at(json, key);
  if (value.is_array()) return value;
  throw util::Error(fmt::format("'{}' is not a list", key));
}
const Json& object_at(const Json& json, const char* key) {
  const auto& value = value_at(json, key);
  if (value.is_object()) return value;
  throw util::Error(fmt::format("'{}' is not an object of names and values", key));
}

void read_spread(const Json& spread, Summary& summary) {
  if (!spread.at("mad").is_null()) summary.mad = number_at(spread, "mad");
  if (!spread.at("outliers").is_null()) summary.outliers = count_at(spread, "outliers");
  const auto& interval = spread.at("median_ci95");
  if (!interval.is_null()) summary.median_interval = Interval{interval.at(0), interval.at(1)};
  const std::string by = spread.at("ci95_by");
  const auto* const at = std::find(kIntervalNames.begin(), kIntervalNames.end(), by);
  if (at == kIntervalNames.end()) throw util::Error("unknown way to an interval '" + by + "'");
  summary.interval_by = static_cast<IntervalBy>(at - kIntervalNames.begin());
}

void read_values(const Json& json, Summary& summary) {
  summary.n = count_at(json, "n", {.least = 1});
  for (const auto& statistic : kStatistics) summary.*statistic.member = number_at(json, statistic.key);
  read_spread(object_at(json, "spread"), summary);
  for (const auto& run : list_at(json, "runs")) {
    summary.runs.push_back({.n = count_at(run, "n", {.least = 1}), .p50 = number_at(run, "p50")});
  }
  summary.blocks = list_at(json, "blocks").get<std::vector<double>>();
  if (json.contains("samples")) summary.samples = list_at(json, "samples").get<std::vector<double>>();
}

/// A rate of rare things stands for more tries than it has samples; of everything else each try is a sample.
void require_all_samples(const Json& json, const Metric& metric) {
  const auto& s = metric.summary;
  const bool rate = metric.unit == "per million" && s.samples.size() < s.n;
  if (!json.contains("samples") || rate || s.samples.size() == s.n) return;
  throw util::Error(fmt::format("'n' is {}, and there are {} 'samples'", s.n, s.samples.size()));
}

Metric metric_from(const Json& json) {
  Metric metric{.name = json.at("name"), .unit = json.at("unit")};
  const std::string kind = json.at("kind");
  const auto known = kind_named(kind);
  if (!known) throw util::Error("unknown kind of time '" + kind + "'");
  metric.kind = *known;
  within(fmt::format("'{}'", metric.name), [&] {
    read_values(json, metric.summary);
    require_all_samples(json, metric);
  });
  for (const auto& p : list_at(json, "paper")) {
    PaperValue value{
        .value = p.at("value"), .unit = p.at("unit"), .platform = p.at("platform"), .source = p.at("source")};
    if (p.contains("to")) value.to = p.at("to").get<double>();
    metric.paper.push_back(std::move(value));
  }
  return metric;
}

Status status_from(const std::string& text) {
  for (const auto status : {Status::kPassed, Status::kFailed, Status::kWaived}) {
    if (name_of(status) == text) return status;
  }
  throw util::Error("unknown status '" + text + "'");
}

Counts counts_from(const Json& json) {
  constexpr double kMost = 9e18;  // what llround holds
  Counts counts{.operations = count_at(json, "operations")};
  const auto& per_one = object_at(json, "counts");
  for (const auto& [name, value] : per_one.items()) {
    const auto total = number_at(per_one, name.c_str()) * static_cast<double>(counts.operations);
    if (total < 0 || total > kMost)
      throw util::Error(fmt::format("'{}' is {}, which counts nothing", name, value.dump()));
    counts.totals.push_back({name, static_cast<std::uint64_t>(std::llround(total))});
  }
  return counts;
}

std::vector<Axis> axes_from(const Json& json) {
  std::vector<Axis> axes;
  for (const auto& [name, value] : object_at(json, "axes").items()) {
    if (value.is_string()) {
      axes.push_back({name, value.get<std::string>()});
    } else {
      axes.push_back({name, whole_number(value, name)});
    }
  }
  return axes;
}

void read_outcome(const Json& json, Record& record) {
  record.environment = count_at(json, "environment");
  record.runs = count_at(json, "runs", {.least = 1});
  if (!json.at("warmup").is_null()) {
    constexpr Limits kOperations{.most = std::numeric_limits<std::uint32_t>::max()};
    record.warmup = static_cast<std::uint32_t>(count_at(json, "warmup", kOperations));
  }
  record.status = status_from(json.at("status"));
  record.reason = json.at("reason");
  record.verified = json.at("verified");
  if (json.contains("gpu_state")) record.gpu_state = gpu_state_from_json(json["gpu_state"]);
  for (const auto& metric : list_at(json, "metrics")) record.metrics.push_back(metric_from(metric));
  record.counts = counts_from(json);
  for (const auto& e : list_at(json, "expect")) record.expectations.push_back({e.at("text"), e.at("held")});
  for (const auto& warning : list_at(json, "warnings")) record.warnings.push_back(warning);
}

Record read(const Json& json) {
  Record record{.experiment = json.at("experiment"),
                .path = json.at("path"),
                .policy = json.at("policy"),
                .lane = json.at("lane"),
                .nic = json.at("nic"),
                .clock = json.at("clock"),
                .engine = json.at("engine"),
                .gpu = json.at("gpu"),
                .doorbell = json.at("doorbell_mapping"),
                .registration = json.at("registration")};
  within(row_of(record), [&] { record.axes = axes_from(json); });
  within(row_of(record), [&] { read_outcome(json, record); });
  return record;
}

}  // namespace

Json to_json(const Record& record, Raw raw) {
  Json json{{"experiment", record.experiment},
            {"axes", axes_json(record.axes)},
            {"path", record.path},
            {"policy", record.policy},
            {"lane", record.lane},
            {"nic", record.nic},
            {"status", name_of(record.status)},
            {"reason", record.reason},
            {"verified", record.verified},
            {"environment", record.environment},
            {"runs", record.runs},
            {"warmup", nullptr},
            {"metrics", Json::array()},
            {"operations", record.counts.operations},
            {"counts", counts_json(record.counts)},
            {"expect", Json::array()},
            {"warnings", record.warnings},
            {"clock", record.clock},
            {"engine", record.engine},
            {"gpu", record.gpu},
            {"doorbell_mapping", record.doorbell},
            {"registration", record.registration}};
  for (const auto& metric : record.metrics) json["metrics"].push_back(metric_json(metric, raw));
  if (record.warmup) json["warmup"] = *record.warmup;
  if (record.gpu_state) json["gpu_state"] = to_json(*record.gpu_state);
  for (const auto& e : record.expectations) json["expect"].push_back({{"text", e.text}, {"held", e.held}});
  return json;
}

Record record_from_json(const Json& json) {
  try {
    return read(json);
  } catch (const nlohmann::json::exception& problem) {
    throw util::Error(std::string("not a record: ") + problem.what());
  }
}

}  // namespace marrow::measure
