// SPDX-License-Identifier: Apache-2.0
// See rate_verdict.h.
#include "experiments/gpu_rate/rate_verdict.h"

#include <fmt/format.h>

#include "measure/statistics.h"

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kQueuesOfTheEngine = 64;  // at which the engine's own rate is asked for
constexpr double kLeastOfTheEngine = 1000;        // M msg/s

}  // namespace

double add_rates(measure::Record& record, const char* name, measure::Kind kind, std::span<const double> per_ns) {
  constexpr double kMillionsASecond = 1e3;  // of one a nanosecond
  const auto summary = measure::summarise(per_ns).scaled(kMillionsASecond);
  record.metrics.push_back({name, "M msg/s", kind, summary, {}});
  return summary.p50;
}

void ExecutedWqes::expect(std::uint64_t posted, measure::Record& record) const {
  if (!context_.nic_count) return;
  const auto executed = count() - before_;
  record.expectations.push_back(
      {fmt::format("the NIC executed exactly the {} WQEs that were posted: {}", posted, executed), executed == posted});
}

void judge_rate(const RateRow& row, const RateMedians& medians, const std::string& gpu, measure::Record& record) {
  const bool lanes_limit = medians.prebuilt >= kEnoughOfTheNic * medians.lanes;
  if (lanes_limit) {
    record.expectations.push_back(
        {fmt::format("the lanes are the limit: the NIC takes prebuilt WQEs {:.1f} times as fast, at least {} times",
                     medians.prebuilt / medians.lanes, kEnoughOfTheNic),
         true});
  } else {
    record.warnings.push_back(fmt::format(
        "the software NIC may be the limit: on these queues it takes prebuilt WQEs at {:.1f} M msg/s, {:.2f} times the "
        "message rate",
        medians.prebuilt, medians.prebuilt / medians.lanes));
  }
  if (gpu.find("H200") == std::string::npos) return;
  if (row.least_rate > 0) {
    const bool held = medians.lanes >= row.least_rate;
    auto text = fmt::format("{:.2f} M msg/s, at least {} on an H200", medians.lanes, row.least_rate);
    if (held || lanes_limit) {
      record.expectations.push_back({std::move(text), held});
    } else {
      record.warnings.push_back(text + " was asked for; see what the NIC takes");
    }
  }
  if (row.queues == kQueuesOfTheEngine && row.blocks == kQueuesOfTheEngine) {
    record.expectations.push_back(
        {fmt::format("the engine takes {:.0f} M prebuilt WQEs a second from {} queues, at least {} on an H200",
                     medians.prebuilt, row.queues, kLeastOfTheEngine),
         medians.prebuilt >= kLeastOfTheEngine});
  }
}

}  // namespace marrow::experiments
