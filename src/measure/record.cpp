// SPDX-License-Identifier: Apache-2.0
// Names and labels of record.h. The sentences about kinds of time are what the terminal prints.
#include "measure/record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "util/error.h"

namespace marrow::measure {
namespace {

struct KindText {
  std::string_view name;
  std::string_view sentence;
};
constexpr std::array<KindText, 5> kKinds{{
    {"gpu", "measured by a GPU's clock around code that runs on the GPU"},
    {"host-lane",
     "a CPU thread of this machine running mini-gda's or libmlx5's own code; no NIC and no GPU is inside this time, so "
     "it can not stand for a GPU's"},
    {"cx7-sim",
     "through the software NIC on this machine's cores: it shows that the mechanism works and what it counts; it can "
     "not say how long a ConnectX, a PCIe bus or a wire takes"},
    {"nic", "includes a real NIC and its path; the submitting thread is a CPU's unless the lane says gpu"},
    {"model",
     "computed: a model of NICs in simulated time, with the numbers of a profile. Nothing was sent and nothing was "
     "timed; "
     "it says what follows from the profile, not what a NIC does (docs/connections.md)"},
}};
constexpr std::array<std::string_view, 3> kStatuses{"passed", "failed", "waived"};

/// Metrics of all runs in order of first appearance: a count of rare things has another name where none was seen.
std::vector<Metric> pooled_metrics(std::span<const Record> runs) {
  std::vector<Metric> pool;
  for (const auto& run : runs) {
    for (const auto& metric : run.metrics) {
      if (std::any_of(pool.begin(), pool.end(), [&](const auto& m) { return m.name == metric.name; })) continue;
      std::vector<Summary> summaries;
      for (const auto& other : runs) {
        if (const auto* same = metric_of(other, metric.name)) summaries.push_back(same->summary);
      }
      pool.push_back(metric);
      pool.back().summary = pooled(std::span<const Summary>(summaries));
    }
  }
  return pool;
}

void add_counts(Counts& sum, const Counts& more) {
  sum.operations += more.operations;
  for (const auto& count : more.totals) {
    const auto at =
        std::find_if(sum.totals.begin(), sum.totals.end(), [&](const auto& c) { return c.name == count.name; });
    if (at == sum.totals.end()) {
      sum.totals.push_back(count);
    } else {
      at->total += count.total;
    }
  }
}

/// A run that failed makes all of them fail; one that was waived leaves what the others say.
void add_outcome(Record& sum, const Record& run, std::size_t number) {
  if (run.status == Status::kFailed) fail(sum, "run " + std::to_string(number) + ": " + run.reason);
  sum.verified = sum.verified && run.verified;
  for (const auto& e : run.expectations) {
    const bool told = std::any_of(sum.expectations.begin(), sum.expectations.end(),
                                  [&](const auto& other) { return other.text == e.text && other.held == e.held; });
    if (!told) sum.expectations.push_back(e);
  }
  for (const auto& warning : run.warnings) {
    if (std::find(sum.warnings.begin(), sum.warnings.end(), warning) == sum.warnings.end()) {
      sum.warnings.push_back(warning);
    }
  }
}

}  // namespace

std::string_view name_of(Kind kind) {
  return kKinds.at(static_cast<std::size_t>(kind)).name;
}
std::string_view sentence_of(Kind kind) {
  return kKinds.at(static_cast<std::size_t>(kind)).sentence;
}
std::optional<Kind> kind_named(std::string_view name) {
  const auto* const at =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const KindText& kind) { return kind.name == name; });
  if (at == kKinds.end()) return std::nullopt;
  return static_cast<Kind>(at - kKinds.begin());
}
std::string_view name_of(Status status) {
  return kStatuses.at(static_cast<std::size_t>(status));
}

std::string text_of(const Axis& axis) {
  const auto* number = std::get_if<std::int64_t>(&axis.value);
  return axis.name + "=" + (number ? std::to_string(*number) : std::get<std::string>(axis.value));
}

bool is_model(const Record& record) {
  return record.nic.starts_with("model:");
}

const Metric* metric_of(const Record& record, std::string_view name) {
  const auto at =
      std::find_if(record.metrics.begin(), record.metrics.end(), [&](const auto& m) { return m.name == name; });
  return at == record.metrics.end() ? nullptr : &*at;
}

void fail(Record& record, std::string reason) {
  if (record.status != Status::kFailed) record.reason = std::move(reason);
  record.status = Status::kFailed;
}

std::string row_of(const Record& record) {
  return record.experiment + ": " + label_of(record);
}

bool same_row(const Record& a, const Record& b) {
  if (a.experiment != b.experiment || a.path != b.path || a.policy != b.policy) return false;
  return std::is_permutation(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(),
                             [](const Axis& x, const Axis& y) { return x.name == y.name && x.value == y.value; });
}

Record pooled(std::span<const Record> runs) {
  if (runs.empty()) throw util::Error("there is no run to pool");
  if (runs.size() == 1) return runs.front();
  std::vector<Record> done;
  for (const auto& run : runs) {
    if (run.status != Status::kWaived) done.push_back(run);
  }
  if (done.empty()) return runs.front();
  Record sum = done.front();
  sum.metrics = pooled_metrics(done);
  sum.counts = {};
  sum.runs = 0;
  if (sum.status == Status::kFailed) sum.reason = "run 1: " + sum.reason;
  for (std::size_t i = 0; i < done.size(); ++i) {
    add_counts(sum.counts, done[i].counts);
    add_outcome(sum, done[i], i + 1);
    sum.runs += done[i].runs;
    if (i > 0 && done[i].gpu_state)
      sum.gpu_state = sum.gpu_state ? pooled(*sum.gpu_state, *done[i].gpu_state) : done[i].gpu_state;
  }
  if (done.size() < runs.size()) {
    sum.warnings.push_back(std::to_string(done.size()) + " of " + std::to_string(runs.size()) + " runs were made");
  }
  return sum;
}

std::string label_of(const Record& record) {
  std::string label = record.path;
  if (!record.policy.empty()) label += ", " + record.policy;
  for (std::size_t i = 0; i < record.axes.size(); ++i) label += (i == 0 ? ", " : " ") + text_of(record.axes[i]);
  return label;
}

}  // namespace marrow::measure
