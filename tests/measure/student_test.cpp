// SPDX-License-Identifier: Apache-2.0
// Student's t against printed tables, and a comparison worked out by hand.
#include "measure/student.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "util/error.h"

namespace marrow::measure {
namespace {

TEST(Moments, OfNoValueAreRefusedAndOfOneHaveNoSpread) {
  EXPECT_THROW((void)moments_of(std::span<const double>{}), util::Error);
  const auto one = moments_of(std::array{1.0});
  EXPECT_DOUBLE_EQ(one.mean, 1.0);
  EXPECT_DOUBLE_EQ(one.degrees, 0.0);
  EXPECT_THROW((void)difference_of_means(one, one, 0.95), util::Error);
}

TEST(Moments, OfThreeValues) {
  const auto m = moments_of(std::array{1.0, 2.0, 6.0});
  EXPECT_DOUBLE_EQ(m.mean, 3.0);
  EXPECT_DOUBLE_EQ(m.variance, 7.0);
  EXPECT_DOUBLE_EQ(m.degrees, 2.0);
  EXPECT_DOUBLE_EQ(m.error_of_mean(), std::sqrt(7.0 / 3));
}

TEST(Student, QuantilesAreThoseOfPrintedTables) {
  struct Printed {
    double p, degrees, t;
  };
  for (const auto& row :
       {Printed{.975, 1, 12.706}, Printed{.975, 2, 4.303}, Printed{.975, 4, 2.776}, Printed{.995, 4, 4.604},
        Printed{.995, 2, 9.925}, Printed{.975, 30, 2.042}, Printed{.95, 10, 1.812}, Printed{.975, 1e6, 1.960}}) {
    EXPECT_NEAR(student_quantile(row.p, row.degrees), row.t, 6e-4) << row.p << " " << row.degrees;
    EXPECT_NEAR(student_quantile(1 - row.p, row.degrees), -row.t, 6e-4);
  }
}

TEST(Difference, OfTwoSidesOfThreeHasFourDegrees) {
  // Each side has variance 1: standard error sqrt(2/3), t = 2.776.
  const auto a = moments_of(std::array{9.0, 10.0, 11.0});
  const auto d = difference_of_means(a, moments_of(std::array{11.0, 12.0, 13.0}), 0.95);
  EXPECT_DOUBLE_EQ(d.value, 2.0);
  EXPECT_NEAR(d.half_width, 2.776 * std::sqrt(2.0 / 3), 1e-3);
}

TEST(Difference, OneValueTakesTheOtherSidesSpread) {
  const auto d = difference_of_means(moments_of(std::array{9.0, 10.0, 11.0}), moments_of(std::array{12.0}), 0.95);
  EXPECT_DOUBLE_EQ(d.value, 2.0);
  EXPECT_NEAR(d.half_width, 4.303 * std::sqrt(4.0 / 3), 1e-3);
}

TEST(Difference, WithoutAnySpreadIsExact) {
  const auto d = difference_of_means(moments_of(std::array{2.0, 2.0}), moments_of(std::array{3.0, 3.0}), 0.99);
  EXPECT_DOUBLE_EQ(d.value, 1.0);
  EXPECT_DOUBLE_EQ(d.half_width, 0.0);
}

}  // namespace
}  // namespace marrow::measure
