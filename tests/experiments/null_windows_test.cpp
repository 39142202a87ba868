// SPDX-License-Identifier: Apache-2.0
// What the harness adds is the window less the readings that make it, pair by pair.
#include <gtest/gtest.h>

#include "experiments/null/windows.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

double median_of(const measure::Record& record, const char* name) {
  const auto* metric = measure::metric_of(record, name);
  return metric == nullptr ? -1 : metric->summary.p50;
}

TEST(AddWindows, RefusesNone) {
  measure::Record record;
  EXPECT_THROW(add_windows(record, measure::Kind::kGpu, {}, 1), util::Error);
}

TEST(AddWindows, SubtractsOneReadingFromIssueAndTwoFromCompletion) {
  // Windows of 40 and 100 ticks, readings of 30 and 60: 10 ticks too many in issue, 40 in put+completion.
  const std::vector<NullStamps> stamps(9, {{.start = 7, .issued = 47, .completed = 107}, {5, 35, 65}});
  measure::Record record;
  add_windows(record, measure::Kind::kGpu, stamps, 0.5);
  EXPECT_DOUBLE_EQ(median_of(record, "issue, nothing inside"), 0.020);
  EXPECT_DOUBLE_EQ(median_of(record, "put+completion, nothing inside"), 0.050);
  EXPECT_DOUBLE_EQ(median_of(record, "clock reading"), 0.015);
  EXPECT_DOUBLE_EQ(median_of(record, "added to issue"), 0.005);
  EXPECT_DOUBLE_EQ(median_of(record, "added to put+completion"), 0.020);
  EXPECT_EQ(median_of(record, "cycles added to issue"), 10);
  EXPECT_EQ(median_of(record, "cycles added to put+completion"), 40);
}

TEST(AddWindows, AHostLanesTicksAreNoCycles) {
  measure::Record record;
  add_windows(record, measure::Kind::kHostLane, std::vector<NullStamps>(9), 0.5);
  EXPECT_EQ(record.metrics.size(), 5U);
}

}  // namespace
}  // namespace marrow::experiments
