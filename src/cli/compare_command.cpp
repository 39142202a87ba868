// SPDX-License-Identifier: Apache-2.0
// marrow compare and marrow merge: documents in, verdicts or one document out. Nothing is measured here.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/closest.h"
#include "cli/named_files.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "cli/thresholds.h"
#include "cli/tool.h"
#include "measure/compare.h"
#include "measure/compare_text.h"
#include "measure/csv.h"
#include "measure/merge.h"
#include "measure/read_document.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

/// Keeps the named experiments. \throws util::Error when a document lacks one.
void narrow(measure::Document& document, const std::string& file, const std::vector<std::string>& only) {
  if (only.empty()) return;
  std::vector<std::string> known;
  for (const auto& record : document.records) {
    if (std::find(known.begin(), known.end(), record.experiment) == known.end()) known.push_back(record.experiment);
  }
  for (const auto& name : only) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw util::Error(fmt::format("{} has no experiment '{}'{}", file, name, closest_text(name, known)),
                      util::ErrorKind::kUsage, fmt::format("--only {}", fmt::join(known, ",")));
  }
  std::erase_if(document.records, [&](const measure::Record& record) {
    return std::find(only.begin(), only.end(), record.experiment) == only.end();
  });
}

measure::Document read_narrowed(const std::string& file, const CompareOptions& options) {
  auto document = measure::read_document(file);
  narrow(document, file, options.only);
  return document;
}

int compare_two(const CompareOptions& options, const measure::Document& a, const measure::Document& b) {
  const measure::CompareLimits limits{.least = options.least_percent / 100};
  const auto comparison = measure::compare(a, b, limits);
  if (options.csv != kStdout) {
    print(measure::comparison_text(comparison, {.look = stdout_look(), .limits = limits, .all = options.all}));
  }
  if (!options.csv.empty()) write_output(options.csv, measure::to_csv(comparison));
  return comparison.any_worse() ? static_cast<int>(util::ErrorKind::kFailed) : 0;
}

}  // namespace

int compare_command(const CompareOptions& options) {
  auto inputs = options.files;
  inputs.push_back(options.baseline);
  refuse_shared_files({{"--csv", options.csv}}, inputs);
  refuse_unwritable(options.csv);
  const auto statements = statements_of(options.expects, options.baseline);
  const auto last = read_narrowed(options.files.back(), options);
  int code = 0;
  // Thresholds that name nothing are refused before anything is printed.
  const auto answers = answers_of(statements, last);
  if (options.files.size() == 2) code = compare_two(options, read_narrowed(options.files.front(), options), last);
  if (!statements.empty() && options.csv == kStdout) std::fputs(answers_text(answers, stdout_look()).c_str(), stderr);
  if (!statements.empty() && options.csv != kStdout) print(answers_text(answers, stdout_look()));
  return all_held(answers) ? code : static_cast<int>(util::ErrorKind::kFailed);
}

int merge_command(const MergeOptions& options) {
  refuse_shared_files({{"-o", options.out}, {"--csv", options.csv}});
  refuse_shared_files({{"--csv", options.csv}}, options.files);  // -o may be one of them: they are in it
  refuse_unwritable(options.out);
  refuse_unwritable(options.csv);
  std::vector<measure::NamedDocument> parts;
  for (const auto& file : options.files) parts.push_back({file, measure::read_document(file)});
  const auto document = measure::merge(parts);
  if (options.out == kStdout && options.csv == kStdout) {
    throw util::Error("the document and its CSV cannot both go to standard output", util::ErrorKind::kUsage,
                      "a file for one of them");
  }
  if (!options.out.empty()) write_output(options.out, measure::to_text(document, measure::Raw::kWrite));
  if (!options.csv.empty()) write_output(options.csv, measure::to_csv(document));
  return 0;
}

}  // namespace marrow::cli
