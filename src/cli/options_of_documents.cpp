// SPDX-License-Identifier: Apache-2.0
// See options_of_documents.h.
#include "cli/options_of_documents.h"

#include <fmt/format.h>

#include "cli/parse_with.h"
#include "cli/words.h"

namespace marrow::cli {

CompareOptions parse_compare(const std::vector<std::string>& words) {
  CompareOptions compare;
  std::string only;
  parse_with("compare", words, [&](CLI::App& app) {
    app.add_option("FILE", compare.files);
    app.add_option("--expect", compare.expects)->expected(1)->take_all();
    app.add_option("--baseline", compare.baseline);
    app.add_option("--only", only);
    app.add_option("--least", compare.least_percent)->check(real(0, 1000));
    app.add_flag("--all", compare.all);
    app.add_option("--csv", compare.csv);
  });
  if (!only.empty()) compare.only = split_at_commas(only);
  const bool thresholds = !compare.expects.empty() || !compare.baseline.empty();
  if (compare.files.size() == 2 || (compare.files.size() == 1 && thresholds)) return compare;
  refuse_usage(fmt::format("compare needs two documents, or one and a threshold, not {}", compare.files.size()),
               "marrow compare before.json after.json");
}

MergeOptions parse_merge(const std::vector<std::string>& words) {
  MergeOptions merge;
  parse_with("merge", words, [&](CLI::App& app) {
    app.add_option("FILE", merge.files);
    app.add_option("-o,--output", merge.out);
    app.add_option("--csv", merge.csv);
  });
  if (merge.files.empty()) refuse_usage("merge needs documents", "marrow merge a.json b.json -o all.json");
  if (merge.out.empty() && merge.csv.empty()) {
    refuse_usage("merge needs a place for what it makes", "-o FILE, or -o - for stdout");
  }
  return merge;
}

ReportOptions parse_report(const std::vector<std::string>& words) {
  ReportOptions report;
  parse_with("report", words, [&](CLI::App& app) {
    app.add_option("FILE", report.files);
    app.add_option("-o,--output", report.out);
  });
  if (report.files.empty()) refuse_usage("report needs documents", "marrow report marrow-suite.json -o page.html");
  if (report.out.empty()) refuse_usage("report needs a place for its page", "-o page.html, or -o - for stdout");
  return report;
}

}  // namespace marrow::cli
