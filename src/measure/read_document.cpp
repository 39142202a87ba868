// SPDX-License-Identifier: Apache-2.0
// Reading and refusing. Every refusal names the file.
#include "measure/read_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "measure/units.h"
#include "util/error.h"
#include "util/read_file.h"

namespace marrow::measure {
namespace {

constexpr std::string_view kOldSchema = "marrow.result/1";
constexpr std::string_view kFamily = "marrow.result/";
constexpr std::size_t kLargest = 1024 * util::kMiB;
constexpr const char* kMakeOne = "marrow run single-op --json FILE makes a document";

[[noreturn]] void refuse(const std::string& sentence, const std::string& hint = kMakeOne) {
  throw util::Error(sentence, util::ErrorKind::kUsage, hint);
}

Json parsed(std::string_view text, const std::string& name) {
  if (text.empty()) refuse(fmt::format("{} is empty", name));
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& problem) {
    const bool torn = problem.byte > text.size();
    if (torn)
      refuse(fmt::format("{} is torn: it ends in the middle, after {} bytes", name, text.size()), "measure again");
    refuse(fmt::format("{} is not JSON: byte {} fits nowhere", name, problem.byte));
  }
}

/// What version 1 did not record stays unknown.
void upgrade_metric(Json& metric) {
  auto& spread = metric.at("spread");
  const bool has_interval = !spread.at("median_ci95").is_null();
  spread["mad"] = nullptr;
  spread["outliers"] = nullptr;
  spread["ci95_by"] = has_interval ? "order statistics" : "none";
  metric["runs"] = Json::array({{{"n", metric.at("n")}, {"p50", metric.at("p50")}}});
  metric["blocks"] = Json::array();
}

void upgrade(Json& json) {
  json["environments"] = Json::array({json.at("environment")});
  for (auto& record : json.at("records")) {
    record["environment"] = 0;
    record["runs"] = 1;
    record["warmup"] = nullptr;
    for (auto& metric : record.at("metrics")) upgrade_metric(metric);
  }
}

void require_known_version(const Json& json, const std::string& name) {
  if (!json.is_object() || !json.contains("schema") || !json["schema"].is_string()) {
    refuse(fmt::format("{} is JSON and no document of marrow: it names no schema", name));
  }
  const std::string schema = json["schema"];
  if (schema == kSchema || schema == kOldSchema) return;
  if (!schema.starts_with(kFamily)) refuse(fmt::format("{} has the schema '{}', not {}", name, schema, kSchema));
  refuse(fmt::format("{} is a {} and this marrow reads {} and {}", name, schema, kOldSchema, kSchema),
         "a marrow of the version that wrote it");
}

void require_known_units(const Record& record, const std::string& name) {
  for (const auto& metric : record.metrics) {
    if (is_unit(metric.unit)) continue;
    refuse(fmt::format("{}: {}: '{}' has the unknown unit '{}'", name, row_of(record), metric.name, metric.unit));
  }
}

/// Whether all metrics or none are a model's: what was computed never stands beside what was measured.
bool is_of_one_world(const Record& record) {
  const auto models = std::count_if(record.metrics.begin(), record.metrics.end(),
                                    [](const Metric& metric) { return metric.kind == Kind::kModel; });
  return models == 0 || static_cast<std::size_t>(models) == record.metrics.size();
}

/// A row is told apart by what it is of and what it ran on; the order of axes does not matter.
std::vector<std::string> identity_of(const Record& record) {
  std::vector<std::string> axes;
  for (const auto& axis : record.axes) axes.push_back(text_of(axis));
  std::sort(axes.begin(), axes.end());
  axes.insert(axes.end(), {record.experiment, record.path, record.policy, record.lane, record.nic, record.engine});
  return axes;
}

void require_no_contradiction(const Record& record, const std::string& name) {
  if (!is_of_one_world(record)) {
    refuse(fmt::format("{}: {}: metrics of kind model stand beside measured ones", name, row_of(record)));
  }
  std::set<std::string> metrics;
  for (const auto& metric : record.metrics) {
    if (metrics.insert(metric.name).second) continue;
    refuse(fmt::format("{}: {}: the metric '{}' is there twice", name, row_of(record), metric.name));
  }
}

void require_list(const Json& json, const char* key, const std::string& name) {
  if (json.contains(key) && !json[key].is_array()) refuse(fmt::format("{}: '{}' is not a list", name, key));
}

Document read(Json json, const std::string& name) {
  require_known_version(json, name);
  require_list(json, "records", name);
  if (json["schema"] == kOldSchema) upgrade(json);
  require_list(json, "environments", name);
  Document document;
  std::set<std::vector<std::string>> rows;
  for (const auto& environment : json.at("environments")) {
    document.environments.push_back(environment_from_json(environment));
  }
  for (const auto& entry : json.at("records")) {
    document.records.push_back(record_from_json(entry));
    const auto& record = document.records.back();
    require_known_units(record, name);
    require_no_contradiction(record, name);
    if (!rows.insert(identity_of(record)).second) refuse(fmt::format("{} holds {} twice", name, row_of(record)));
    if (record.environment < document.environments.size()) continue;
    refuse(fmt::format("{}: {}: was measured in environment {}, and there are {}", name, row_of(record),
                       record.environment, document.environments.size()));
  }
  if (document.environments.empty()) refuse(fmt::format("{} says nothing of where it was measured", name));
  return document;
}

}  // namespace

Document document_from_text(std::string_view text, const std::string& name) {
  try {
    return read(parsed(text, name), name);
  } catch (const nlohmann::json::exception& problem) {
    refuse(fmt::format("{} is no whole document: {}", name, problem.what()));
  } catch (const util::Error& problem) {
    if (problem.kind() == util::ErrorKind::kUsage) throw;
    refuse(fmt::format("{}: {}", name, problem.what()));
  }
}

Document read_document(const std::string& file) {
  return document_from_text(util::read_file(file, kLargest, kMakeOne), file);
}

}  // namespace marrow::measure
