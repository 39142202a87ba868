// SPDX-License-Identifier: Apache-2.0
// See passes.h. A pass is a new process, so that what differs from process to process (where memory lies, which cores
// the scheduler gives) is part of the spread.
#include "cli/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "util/clock.h"

namespace marrow::cli {
namespace {

constexpr unsigned kMostRuns = 100;
constexpr unsigned kLeastForNoise = 3;

bool is_rate_or_time(const measure::Metric& metric) {
  return metric.unit == "us" || metric.unit == "M msg/s" || metric.unit == "GB/s";
}

class Passes {
 public:
  Passes(const std::vector<Task>& tasks, const RunSettings& settings, std::string nic, const PassOptions& options)
      : tasks_(tasks), settings_(settings), nic_(std::move(nic)), options_(options), runs_(tasks.size()) {}

  RunOutcome run() {
    const auto start = util::now();
    auto wanted = all_rows();
    for (unsigned pass = 0; !wanted.empty(); ++pass) {
      one_pass(wanted);
      const auto spent = std::chrono::duration<double>(util::now() - start).count();
      if (outcome_.interrupted) break;
      wanted = still_wanted(wanted, pass + 1, spent);
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) outcome_.records.push_back(pool(i));
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] std::vector<std::size_t> all_rows() const {
    std::vector<std::size_t> rows(tasks_.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    return rows;
  }

  void one_pass(const std::vector<std::size_t>& rows) {
    std::vector<Task> tasks;
    for (const auto row : rows) tasks.push_back(tasks_[row]);
    auto outcome = run_tasks(tasks, settings_, nic_);
    for (std::size_t i = 0; i < rows.size(); ++i) runs_[rows[i]].push_back(std::move(outcome.records[i]));
    if (!outcome_.path) outcome_.path = std::move(outcome.path);
    if (!outcome.libraries.empty()) outcome_.libraries = std::move(outcome.libraries);
    outcome_.interrupted = outcome.interrupted;
  }

  [[nodiscard]] unsigned least() const {
    return options_.noise ? std::max(options_.runs, kLeastForNoise) : options_.runs;
  }

  std::vector<std::size_t> still_wanted(const std::vector<std::size_t>& rows, unsigned done, double spent_s) {
    std::vector<std::size_t> again;
    for (const auto row : rows) {
      const bool waived = runs_[row].back().status == measure::Status::kWaived;
      if (!waived && (done < least() || is_too_wide(row))) again.push_back(row);
    }
    if (spent_s < options_.limit_s && done < kMostRuns) return again;
    limit_hit_ = !again.empty();
    return {};
  }

  [[nodiscard]] bool is_too_wide(std::size_t row) const {
    if (!options_.noise || runs_[row].back().status == measure::Status::kFailed) return false;
    const auto widest = widest_interval(measure::pooled(runs_[row]));
    return widest && widest->percent > *options_.noise;
  }

  measure::Record pool(std::size_t row) {
    auto record = measure::pooled(runs_[row]);
    if (!limit_hit_ || record.status != measure::Status::kPassed) return record;
    const auto runs = record.runs;
    if (runs < least()) {
      record.warnings.push_back(
          fmt::format("the limit of {} s ended it after {} of {} runs", options_.limit_s, runs, least()));
    } else if (is_too_wide(row)) {
      const auto widest = *widest_interval(record);
      record.warnings.push_back(
          fmt::format("the limit of {} s ended it after {} runs, with the interval of '{}' at +-{:.1f} %, not {} %",
                      options_.limit_s, runs, widest.metric, widest.percent, *options_.noise));
    }
    return record;
  }

  const std::vector<Task>& tasks_;
  const RunSettings& settings_;
  std::string nic_;
  PassOptions options_;
  std::vector<std::vector<measure::Record>> runs_;  // of each task
  RunOutcome outcome_;
  bool limit_hit_ = false;
};

}  // namespace

std::optional<Widest> widest_interval(const measure::Record& record) {
  std::optional<Widest> widest;
  for (const auto& metric : record.metrics) {
    const auto& s = metric.summary;
    if (!is_rate_or_time(metric) || !s.median_interval || s.p50 <= 0) continue;
    const double percent = (s.median_interval->high - s.median_interval->low) / 2 / s.p50 * 100;
    if (!widest || percent > widest->percent) widest = Widest{metric.name, percent};
  }
  return widest;
}

RunOutcome run_passes(const std::vector<Task>& tasks, const RunSettings& settings, const std::string& nic,
                      const PassOptions& options) {
  return Passes(tasks, settings, nic, options).run();
}

}  // namespace marrow::cli
