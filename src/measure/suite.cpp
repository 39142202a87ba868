// SPDX-License-Identifier: Apache-2.0
// See suite.h.
#include "measure/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "measure/record_json.h"
#include "measure/suite_data.h"
#include "util/error.h"

namespace marrow::measure {
namespace {

constexpr std::array<std::string_view, 3> kAgreements{"agrees", "differs", "cannot be said here"};

Kind kind_of(const std::string& name) {
  if (const auto kind = kind_named(name)) return *kind;
  throw util::Error("the suite names an unknown kind of time '" + name + "'");
}

Shape shape_from(const Json& json) {
  Shape shape{.text = json.at("text"), .expect = json.at("expect")};
  for (const auto& kind : json.at("kinds")) shape.kinds.push_back(kind_of(kind));
  return shape;
}

SuiteEntry entry_from(const Json& json) {
  SuiteEntry entry{.id = json.at("id"), .section = json.at("section"), .sources = json.at("sources")};
  entry.question = json.at("question");
  entry.setup = json.value("setup", "");
  entry.own = json.value("own", false);
  entry.gpu_only = json.value("gpu_only", false);
  entry.seconds = json.value("seconds", entry.seconds);
  if (json.contains("iterations")) entry.iterations = json["iterations"].get<std::uint32_t>();
  entry.axes = json.value("axes", std::vector<std::string>{});
  entry.absent = json.value("absent", "");
  entry.would = json.value("would", "");
  for (const auto& shape : json.value("shapes", Json::array())) entry.shapes.push_back(shape_from(shape));
  return entry;
}

Suite suite_from(std::string_view text) {
  const auto json = Json::parse(text);
  Suite suite{.name = json.at("suite"), .document = json.at("document")};
  for (const auto& entry : json.at("experiments")) suite.entries.push_back(entry_from(entry));
  return suite;
}

bool speaks_of(const Shape& shape, const std::vector<Kind>& measured) {
  return std::all_of(measured.begin(), measured.end(), [&](Kind kind) {
    return std::find(shape.kinds.begin(), shape.kinds.end(), kind) != shape.kinds.end();
  });
}

Judged judge_one(const Shape& shape, const Document& document) {
  Judged judged{.shape = shape};
  const auto statement = parse_statement(shape.expect);
  const auto kinds = kinds_of(statement, document);
  if (!speaks_of(shape, kinds)) {
    judged.told = "measured in another kind of time than the paper's figure speaks of";
    return judged;
  }
  try {
    const auto rows = check(statement, document);
    const bool held = std::all_of(rows.begin(), rows.end(), [](const Checked& row) { return row.held; });
    judged.agreement = held ? Agreement::kAgrees : Agreement::kDiffers;
    for (const auto& row : rows) judged.told += (judged.told.empty() ? "" : "; ") + row.told;
  } catch (const util::Error&) {
    judged.told = "the rows that it speaks of were not measured here";
  }
  return judged;
}

}  // namespace

Suite suite_named(const std::string& name) {
  std::vector<std::string> known;
  for (const std::string_view text : kSuiteFiles) {
    auto suite = suite_from(text);
    if (suite.name == name) return suite;
    known.push_back(suite.name);
  }
  throw util::Error(fmt::format("no suite '{}'; known: {}", name, fmt::join(known, ", ")), util::ErrorKind::kUsage,
                    "marrow suite " + known.front());
}

const SuiteEntry* entry_of(const Suite& suite, std::string_view id) {
  const auto at = std::find_if(suite.entries.begin(), suite.entries.end(), [&](const auto& e) { return e.id == id; });
  return at == suite.entries.end() ? nullptr : &*at;
}

std::string_view name_of(Agreement agreement) {
  return kAgreements.at(static_cast<std::size_t>(agreement));
}

std::vector<Judged> judge(const SuiteEntry& entry, const Document& document) {
  std::vector<Judged> all;
  for (const auto& shape : entry.shapes) all.push_back(judge_one(shape, document));
  return all;
}

}  // namespace marrow::measure
