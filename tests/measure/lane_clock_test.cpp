// SPDX-License-Identifier: Apache-2.0
// The lane's clock against CLOCK_MONOTONIC.
#include "measure/lane_clock.h"

#include <gtest/gtest.h>

#include "util/clock.h"

namespace marrow::measure {
namespace {

double now_ns() {
  return static_cast<double>(util::now().count());
}

// 50 ms by both clocks. The monotonic readings stand inside and outside the clock's own, so that losing the core
// between two readings only widens the bounds.
TEST(LaneClock, AgreesWithTheMonotonicClock) {
  constexpr double kRateError = 1e-3;
  for (const auto source : {LaneClock::Source::kBest, LaneClock::Source::kMonotonic}) {
    const LaneClock clock(source);
    const auto outer_from = now_ns();
    const auto from = clock.ticks();
    const auto inner_from = now_ns();
    while (now_ns() - inner_from < 50e6) {
    }
    const auto inner_to = now_ns();
    const auto to = clock.ticks();
    const auto outer_to = now_ns();
    EXPECT_GE(clock.ns(to - from), (inner_to - inner_from) * (1 - kRateError)) << clock.name();
    EXPECT_LE(clock.ns(to - from), (outer_to - outer_from) * (1 + kRateError)) << clock.name();
  }
}

TEST(LaneClock, NamesItselfAndItsCost) {
  const LaneClock clock(LaneClock::Source::kMonotonic);
  EXPECT_EQ(clock.ns_per_tick(), 1.0);
  EXPECT_NE(clock.name().find("CLOCK_MONOTONIC"), std::string::npos);
  EXPECT_GE(clock.reading_ns(), 0);
}

}  // namespace
}  // namespace marrow::measure
