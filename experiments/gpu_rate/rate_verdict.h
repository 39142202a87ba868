// SPDX-License-Identifier: Apache-2.0
// What a row of gpu-rate says beside its rate: how many puts the NIC executed, what limits, and what was asked for.
#pragma once

#include <cstdint>

#include "experiments/experiment.h"
#include "experiments/gpu_rate/rows.h"

namespace marrow::experiments {

/// Adds a metric in M msg/s from samples in messages a nanosecond. Returns its median in M msg/s.
double add_rates(measure::Record& record, const char* name, measure::Kind kind, std::span<const double> per_ns);

/// The software NIC's count of executed WQEs around a measurement.
class ExecutedWqes {
 public:
  explicit ExecutedWqes(const Context& context) : context_(context), before_(count()) {}
  /// Adds the expectation that they are `posted`. Nothing on a real NIC.
  void expect(std::uint64_t posted, measure::Record& record) const;

 private:
  [[nodiscard]] std::uint64_t count() const { return context_.nic_count ? context_.nic_count("wqes_fetched") : 0; }

  const Context& context_;
  std::uint64_t before_;
};

/// Who limits: below this many times the lanes' rate the software NIC may.
inline constexpr double kEnoughOfTheNic = 4;

struct RateMedians {
  double lanes = 0;     // M msg/s
  double prebuilt = 0;  // of WQEs that were built beforehand
};
/// Names the limit, and compares with what an H200 must reach.
void judge_rate(const RateRow& row, const RateMedians& medians, const std::string& gpu, measure::Record& record);

}  // namespace marrow::experiments
