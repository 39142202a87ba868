// SPDX-License-Identifier: Apache-2.0
// Rows keep their order of first appearance; environments that differ only in date and path are kept apart, since a
// path is part of what was measured.
#include "measure/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "util/error.h"

namespace marrow::measure {
namespace {

/// One row with the records of all its runs.
struct Row {
  std::string origin;  // where the first record came from
  std::vector<Record> runs;
};

std::string key_of(const Record& record) {
  return fmt::format("{}, {} lanes on {}", row_of(record), record.lane, record.nic);
}

/// What must be the same for two runs to be runs of one thing.
bool same_build_and_machine(const Environment& a, const Environment& b) {
  return a.cpu_model == b.cpu_model && a.cores == b.cores && a.commit == b.commit && a.dirty == b.dirty &&
         a.compiler == b.compiler && a.build_type == b.build_type && a.rdma_core == b.rdma_core;
}

bool has_samples(const Record& record) {
  return std::all_of(record.metrics.begin(), record.metrics.end(),
                     [](const Metric& metric) { return !metric.summary.samples.empty(); });
}

/// Measured at one time in one place (environments hold the date) with the same samples, or the same summaries of them.
bool is_same_run(const Record& a, const Record& b) {
  return a.environment == b.environment && to_json(a, Raw::kWrite) == to_json(b, Raw::kWrite);
}

class Merger {
 public:
  void add(const NamedDocument& part) {
    std::vector<std::size_t> number;
    for (const auto& environment : part.document.environments) number.push_back(place(environment));
    for (auto record : part.document.records) {
      record.environment = number.at(record.environment);
      add(std::move(record), part.name);
    }
  }

  Document done() {
    for (const auto& row : rows_) {
      result_.records.push_back(row.runs.size() == 1 ? row.runs.front() : pooled(row.runs));
    }
    return std::move(result_);
  }

 private:
  std::size_t place(const Environment& environment) {
    const auto text = to_json(environment);
    for (std::size_t i = 0; i < result_.environments.size(); ++i) {
      if (to_json(result_.environments[i]) == text) return i;
    }
    result_.environments.push_back(environment);
    return result_.environments.size() - 1;
  }

  void add(Record record, const std::string& name) {
    const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) {
      const auto& first = row.runs.front();
      const bool waived = first.status == Status::kWaived || record.status == Status::kWaived;  // by no engine
      return same_row(first, record) && first.lane == record.lane && first.nic == record.nic &&
             (first.engine == record.engine || waived);
    });
    if (at == rows_.end()) {
      rows_.push_back({name, {std::move(record)}});
      return;
    }
    if (record.status == Status::kWaived) return;  // what ran, or the first reason, stands
    if (at->runs.front().status == Status::kWaived) {
      *at = {name, {std::move(record)}};
      return;
    }
    require_another_run(*at, record, name);
    require_poolable(*at, record, name);
    at->runs.push_back(std::move(record));
  }

  /// A document given twice, or its copy, is one run: counted as two it would make an interval out of nothing.
  static void require_another_run(const Row& row, const Record& record, const std::string& name) {
    const bool known =
        std::any_of(row.runs.begin(), row.runs.end(), [&](const Record& run) { return is_same_run(run, record); });
    if (!known) return;
    throw util::Error(fmt::format("{} and {} hold the same run of {}", row.origin, name, key_of(record)),
                      util::ErrorKind::kUsage, "each document once");
  }

  void require_poolable(const Row& row, const Record& record, const std::string& name) const {
    const auto& mine = result_.environments.at(row.runs.front().environment);
    const auto both = fmt::format("{} and {} both hold {}", row.origin, name, key_of(record));
    if (!same_build_and_machine(mine, result_.environments.at(record.environment))) {
      throw util::Error(both + ", of other builds or machines, and these are not pooled", util::ErrorKind::kUsage,
                        fmt::format("marrow compare {} {}", row.origin, name));
    }
    if (has_samples(record) && has_samples(row.runs.front())) return;
    throw util::Error(both + ", and their percentiles cannot be pooled without their samples", util::ErrorKind::kUsage,
                      "marrow run --samples, or --runs 3 in the first place");
  }

  Document result_;
  std::vector<Row> rows_;
};

}  // namespace

Document merge(std::span<const NamedDocument> parts) {
  Merger merger;
  for (const auto& part : parts) merger.add(part);
  return merger.done();
}

}  // namespace marrow::measure
