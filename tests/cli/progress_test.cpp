// SPDX-License-Identifier: Apache-2.0
// The time left; what a terminal shows of it is in suite_test.cpp.
#include "cli/progress.h"

#include <gtest/gtest.h>

namespace marrow::cli {
namespace {

TEST(Estimate, CorrectsWhatIsLeftByHowFarItWasOff) {
  Estimate estimate;
  estimate.expect(100);
  estimate.expect(100);
  EXPECT_DOUBLE_EQ(estimate.left(), 200);
  estimate.done(100, 210);  // twice as slow as expected, of which the first 10 s count as right
  EXPECT_DOUBLE_EQ(estimate.left(), 100 * 220.0 / 110);
  estimate.skip(100);
  EXPECT_DOUBLE_EQ(estimate.left(), 0);
  EXPECT_EQ(time_text(61), "about 2 min");
  EXPECT_EQ(time_text(59), "under a minute");
}

}  // namespace
}  // namespace marrow::cli
