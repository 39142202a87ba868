// SPDX-License-Identifier: Apache-2.0
// Look-up in the compiled-in data/paper/*.json.
#include "measure/paper.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "measure/paper_data.h"
#include "measure/record_json.h"

namespace marrow::measure {
namespace {

/// An entry: {"path", "policy", "axes"?, "metric", "unit", "source", "values": {platform: number or [from, to]}}.
const std::vector<Json>& entries() {
  static const std::vector<Json> all = [] {
    std::vector<Json> list;
    for (const std::string_view text : kPaperFiles) {
      const auto file = Json::parse(text);
      for (Json entry : file.at("entries")) {
        entry["experiment"] = file.at("experiment");
        entry["source"] = file.at("document").get<std::string>() + " " + entry.at("source").get<std::string>();
        list.push_back(std::move(entry));
      }
    }
    return list;
  }();
  return all;
}

bool has_axis(const Record& record, const std::string& name, const Json& value) {
  return std::any_of(record.axes.begin(), record.axes.end(), [&](const Axis& axis) {
    if (axis.name != name) return false;
    return std::visit([&](const auto& mine) { return value == Json(mine); }, axis.value);
  });
}

bool matches(const Json& entry, const Record& record, std::string_view metric) {
  if (entry.at("experiment") != record.experiment || entry.at("metric") != metric) return false;
  if (entry.at("path") != record.path || entry.at("policy") != record.policy) return false;
  const auto axes = entry.value("axes", Json::object());
  return std::all_of(axes.items().begin(), axes.items().end(),
                     [&](const auto& axis) { return has_axis(record, axis.key(), axis.value()); });
}

/// One a platform.
std::vector<PaperValue> values_of(const Json& entry) {
  std::vector<PaperValue> values;
  for (const auto& [platform, value] : entry.at("values").items()) {
    PaperValue paper{.unit = entry.at("unit"), .platform = platform, .source = entry.at("source")};
    paper.value = value.is_array() ? value.at(0) : value;
    if (value.is_array()) paper.to = value.at(1).get<double>();
    values.push_back(std::move(paper));
  }
  return values;
}

std::string row_text(const Json& entry) {
  Record row{.path = entry.at("path"), .policy = entry.at("policy")};
  const auto axes = entry.value("axes", Json::object());
  for (const auto& [name, value] : axes.items()) {
    if (value.is_number()) {
      row.axes.push_back({name, value.get<std::int64_t>()});
    } else {
      row.axes.push_back({name, value.get<std::string>()});
    }
  }
  return label_of(row);
}

}  // namespace

std::vector<PaperValue> paper_values(const Record& record, std::string_view metric) {
  std::vector<PaperValue> found;
  for (const auto& entry : entries()) {
    if (!matches(entry, record, metric)) continue;
    for (auto&& value : values_of(entry)) found.push_back(std::move(value));
  }
  return found;
}

void add_paper_values(Record& record) {
  for (auto& metric : record.metrics) metric.paper = paper_values(record, metric.name);
}

std::vector<PrintedValue> printed_values(std::string_view experiment) {
  std::vector<PrintedValue> found;
  for (const auto& entry : entries()) {
    if (entry.at("experiment") != experiment) continue;
    for (auto&& value : values_of(entry)) found.push_back({row_text(entry), entry.at("metric"), std::move(value)});
  }
  return found;
}

}  // namespace marrow::measure
