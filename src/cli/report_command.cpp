// SPDX-License-Identifier: Apache-2.0
// marrow report: documents in, one HTML page out. The page's program is made by npm from report/ and lies beside
// the tool (page.h); here it gets its data: the merged document, the suite's catalogue, and whether the paper's shapes
// hold.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/named_files.h"
#include "cli/output_file.h"
#include "cli/page.h"
#include "cli/tool.h"
#include "measure/merge.h"
#include "measure/read_document.h"
#include "measure/suite.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

using measure::Json;

constexpr std::string_view kMark = "MARROW_DATA_HERE";

Json shapes_json(const measure::SuiteEntry& entry, const measure::Document& document) {
  Json list = Json::array();
  for (const auto& judged : measure::judge(entry, document)) {
    list.push_back({{"text", judged.shape.text},
                    {"expect", judged.shape.expect},
                    {"agreement", measure::name_of(judged.agreement)},
                    {"told", judged.told}});
  }
  return list;
}

Json suite_json(const measure::Suite& suite, const measure::Document& document) {
  Json list = Json::array();
  for (const auto& entry : suite.entries) {
    list.push_back({{"id", entry.id},
                    {"section", entry.section},
                    {"sources", entry.sources},
                    {"question", entry.question},
                    {"setup", entry.setup},
                    {"own", entry.own},
                    {"shapes", shapes_json(entry, document)}});
  }
  return list;
}

/// Inside a script element: no "</", no comment's begin.
std::string harmless(std::string json) {
  for (std::size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at))
    json.replace(at, 1, "\\u003c");
  return json;
}

std::string data_of(const measure::Document& document) {
  const auto suite = measure::suite_named("paper");
  const Json data{{"paper", suite.document},
                  {"document", Json::parse(measure::to_text(document, measure::Raw::kWrite))},
                  {"suite", suite_json(suite, document)}};
  return harmless(data.dump());
}

measure::Document read_all(const std::vector<std::string>& files) {
  std::vector<measure::NamedDocument> parts;
  for (const auto& file : files) parts.push_back({file, measure::read_document(file)});
  return measure::merge(parts);
}

}  // namespace

int report_command(const ReportOptions& options) {
  refuse_shared_files({{"-o", options.out}}, options.files);
  auto page = report_page();
  refuse_unwritable(options.out);
  const auto document = read_all(options.files);
  const auto at = page.find(kMark);
  if (at == std::string::npos) throw util::Error("the page beside this tool has no place for its data");
  page.replace(at, kMark.size(), data_of(document));
  write_output(options.out, page);
  return 0;
}

}  // namespace marrow::cli
