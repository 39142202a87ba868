// SPDX-License-Identifier: Apache-2.0
// The fit on the points of the paper's Table 6, taken at the clocks of its Figure 5.
#include "measure/clock_fit.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "util/error.h"

namespace marrow::measure {
namespace {

/// arXiv:2610.01380 Table 6, and the share of the time at 1845 MHz that section 4.1 gives, rounded; 0 where it gives
/// none.
struct Printed {
  const char* what;
  double cycles, us, percent;
};
constexpr std::array<Printed, 6> kTable6{{{"NVSHMEM public issue", 10313, 1.44, 80},
                                          {"NVSHMEM public put+completion", 16987, 12.39, 0},
                                          {"GDAKI inline issue", 2929, 0.27, 85},
                                          {"GDAKI inline put+flush", 5683, 10.3, 0},
                                          {"IBRC enqueue", 1891, 0.09, 92},
                                          {"IBRC put+completion", 6045, 8.91, 27}}};
constexpr std::array<double, 4> kClocks{1845, 995, 746, 502};  // Figure 5's

std::vector<ClockPoint> points_of(const Printed& row) {
  std::vector<ClockPoint> points;
  for (const double mhz : kClocks) points.push_back({mhz, row.cycles / mhz + row.us});
  return points;
}

TEST(ClockFit, FewerThanTwoClocksAndNoClockAreRefused) {
  EXPECT_THROW((void)fit_clock({}), util::Error);
  EXPECT_THROW((void)fit_clock(std::array{ClockPoint{1000, 1}, ClockPoint{1000, 2}}), util::Error);
  EXPECT_THROW((void)fit_clock(std::array{ClockPoint{0, 1}, ClockPoint{1000, 2}}), util::Error);
}

TEST(ClockFit, GivesBackThePapersFits) {
  for (const auto& row : kTable6) {
    const auto fit = fit_clock(points_of(row));
    EXPECT_NEAR(fit.cycles, row.cycles, 1e-6 * row.cycles) << row.what;
    EXPECT_NEAR(fit.us, row.us, 1e-6) << row.what;
    EXPECT_NEAR(fit.r2, 1, 1e-9) << row.what;
  }
}

TEST(ClockFit, TheShareAt1845MhzIsThePapers) {
  for (const auto& row : kTable6) {
    if (row.percent == 0) continue;
    EXPECT_NEAR(fit_clock(points_of(row)).share_at(1845) * 100, row.percent, 0.7) << row.what;
  }
}

TEST(ClockFit, ScatterLowersR2AndMovesTheFitLittle) {
  auto points = points_of(kTable6[0]);
  points[0].us *= 1.03;
  points[2].us *= 0.97;
  const auto fit = fit_clock(points);
  EXPECT_LT(fit.r2, 1);
  EXPECT_GT(fit.r2, 0.99);
  EXPECT_NEAR(fit.cycles, kTable6[0].cycles, 0.05 * kTable6[0].cycles);
}

}  // namespace
}  // namespace marrow::measure
