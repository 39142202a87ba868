// SPDX-License-Identifier: Apache-2.0
// Matching of rows and what is refused; the test itself is difference.cpp.
#include "measure/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "measure/difference.h"
#include "util/error.h"

namespace marrow::measure {
namespace {

constexpr std::array<std::string_view, 5> kVerdicts{"better", "worse", "differs", "noise", "untested"};

struct TestText {
  std::string_view name;
  std::string_view sentence;
};
constexpr std::array<TestText, 5> kTests{{
    {"runs",
     "Student's t over the medians of the process runs, with their own scatter or that of stretches inside them, "
     "whichever is wider"},
    {"one run against several", "the same, with the spread of the side that has several process runs"},
    {"stretches of one run",
     "Student's t with one median a side and the scatter of up to 20 stretches of time: what changes from process to "
     "process is taken to be no more, and --runs 3 measures it"},
    {"exact", "counted, not timed: any difference is one"},
    {"none", "too few samples for an interval: --runs 3 gives one"},
}};

std::set<std::string> experiments_of(const Document& document) {
  std::set<std::string> names;
  for (const auto& record : document.records) names.insert(record.experiment);
  return names;
}

void require_same_experiments(const Document& a, const Document& b) {
  const auto of_a = experiments_of(a);
  const auto of_b = experiments_of(b);
  if (of_a == of_b) return;
  std::vector<std::string> common;
  std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(common));
  throw util::Error(
      fmt::format("the documents hold different experiments: {} and {}", fmt::join(of_a, ", "), fmt::join(of_b, ", ")),
      util::ErrorKind::kUsage,
      common.empty() ? "two documents of the same experiments" : "--only " + fmt::format("{}", fmt::join(common, ",")));
}

std::string set_up_of(const Record& record) {
  const auto engine = record.engine.empty() ? "" : fmt::format(", engine {}", record.engine);
  if (is_model(record)) return "the " + record.nic;
  return fmt::format("{} lanes on {}{}", record.lane, record.nic, engine);
}

/// Rows of two NICs of one sort may be compared; a real one, the software NIC and a model are three.
std::string_view sort_of_nic(const Record& record) {
  if (record.lane == "none") return "model";  // also one that was waived for want of a profile
  return record.nic == "cx7-sim" ? "cx7-sim" : "nic";
}

/// The record of the same row; of several (lanes or NICs beside each other in one document) the one set up alike.
const Record* partner(const Record& record, const Document& document) {
  const Record* found = nullptr;
  for (const auto& other : document.records) {
    if (!same_row(other, record)) continue;
    if (set_up_of(other) == set_up_of(record)) return &other;
    if (found == nullptr) found = &other;
  }
  return found;
}

void refuse_other_kind(const Record& a, const Record& b, const std::string& what) {
  throw util::Error(fmt::format("{}: {} with {} and {} with {}: kinds of time are not compared", row_of(a), what,
                                set_up_of(a), what, set_up_of(b)),
                    util::ErrorKind::kUsage, "two documents of the same --lane and --nic");
}

void compare_metrics(const Record& a, const Record& b, const CompareLimits& limits, Comparison& out) {
  for (const auto& metric : a.metrics) {
    const auto* other = metric_of(b, metric.name);
    if (other == nullptr) {
      out.notes.push_back(fmt::format("{}: '{}' is only in the first", row_of(a), metric.name));
      continue;
    }
    if (metric.kind != other->kind) {
      refuse_other_kind(a, b,
                        fmt::format("'{}' is {} and {}", metric.name, name_of(metric.kind), name_of(other->kind)));
    }
    if (metric.unit != other->unit) {
      throw util::Error(fmt::format("{}: '{}' is in {} and in {}", row_of(a), metric.name, metric.unit, other->unit),
                        util::ErrorKind::kUsage, "two documents of one version of marrow");
    }
    auto compared = difference(metric, *other, limits);
    compared.row = row_of(a);
    compared.experiment = a.experiment;
    out.metrics.push_back(std::move(compared));
  }
}

void note_counts(const Record& a, const Record& b, Comparison& out) {
  for (const auto& count : a.counts.totals) {
    const auto at = std::find_if(b.counts.totals.begin(), b.counts.totals.end(),
                                 [&](const auto& other) { return other.name == count.name; });
    if (at == b.counts.totals.end() || a.counts.operations == 0 || b.counts.operations == 0) continue;
    const double of_a = static_cast<double>(count.total) / static_cast<double>(a.counts.operations);
    const double of_b = static_cast<double>(at->total) / static_cast<double>(b.counts.operations);
    if (std::abs(of_a - of_b) <= 1e-9 * std::max(of_a, of_b)) continue;
    out.notes.push_back(fmt::format("{}: {} per operation: {:.4g} and {:.4g}", row_of(a), count.name, of_a, of_b));
  }
}

void compare_records(const Record& a, const Record& b, const CompareLimits& limits, Comparison& out) {
  if (set_up_of(a) != set_up_of(b) && (a.lane != b.lane || sort_of_nic(a) != sort_of_nic(b))) {
    refuse_other_kind(a, b, "measured");
  }
  if (a.status == Status::kPassed && b.status != Status::kPassed) {
    out.losses.push_back(fmt::format("{}: passed, and now {}: {}", row_of(a), name_of(b.status), b.reason));
    return;
  }
  if (a.status != Status::kPassed || b.status != Status::kPassed) return;
  compare_metrics(a, b, limits, out);
  note_counts(a, b, out);
}

struct Told {
  const char* what;
  std::string Environment::*member;
};
constexpr std::array<Told, 5> kTold{{{"machine", &Environment::cpu_model},
                                     {"kernel", &Environment::kernel},
                                     {"compiler", &Environment::compiler},
                                     {"build type", &Environment::build_type},
                                     {"libraries", &Environment::rdma_core}}};

void note_environments(const Environment& a, const Environment& b, Comparison& out) {
  for (const auto& told : kTold) {
    if (a.*told.member == b.*told.member) continue;
    out.notes.push_back(fmt::format("another {}: {} and {}", told.what, a.*told.member, b.*told.member));
  }
  if (a.cores != b.cores) out.notes.push_back(fmt::format("another number of cores: {} and {}", a.cores, b.cores));
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  return kVerdicts.at(static_cast<std::size_t>(verdict));
}
std::string_view name_of(Method method) {
  return kTests.at(static_cast<std::size_t>(method)).name;
}
std::string_view sentence_of(Method method) {
  return kTests.at(static_cast<std::size_t>(method)).sentence;
}

std::size_t Comparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(
      std::count_if(metrics.begin(), metrics.end(), [&](const Compared& m) { return m.verdict == verdict; }));
}
bool Comparison::any_worse() const {
  return !losses.empty() || count(Verdict::kWorse) > 0;
}

Comparison compare(const Document& a, const Document& b, const CompareLimits& limits) {
  require_same_experiments(a, b);
  Comparison out;
  note_environments(a.environments.front(), b.environments.front(), out);
  for (const auto& record : a.records) {
    const auto* other = partner(record, b);
    if (other != nullptr) {
      compare_records(record, *other, limits, out);
    } else if (record.status == Status::kPassed) {
      out.losses.push_back(fmt::format("{}: passed, and is missing in the second", row_of(record)));
    }
  }
  for (const auto& record : b.records) {
    if (partner(record, a) == nullptr) out.notes.push_back(fmt::format("{}: is only in the second", row_of(record)));
  }
  return out;
}

}  // namespace marrow::measure
