// SPDX-License-Identifier: Apache-2.0
// How much of a time follows a clock: T(f) = C/f + B, with T in us, f in MHz, C in cycles. The paper's Table 6 and
// Figure 5 are such fits. sm-clock's points are at clocks as they were measured, not as they were asked for.
#pragma once

#include <span>

namespace marrow::measure {

struct ClockPoint {
  double mhz = 0;
  double us = 0;
};

struct ClockFit {
  double cycles = 0;  // C: the part that the clock carries
  double us = 0;      // B: the part that it does not
  double r2 = 0;      // share of the variance that the fit explains; 1 where there is none

  [[nodiscard]] double at(double mhz) const { return cycles / mhz + us; }
  /// The share of the time at this clock that follows it.
  [[nodiscard]] double share_at(double mhz) const { return cycles / mhz / at(mhz); }
};

/// Least squares over 1/f. \throws util::Error for fewer than two clocks that differ, or a clock that is not above
/// zero.
[[nodiscard]] ClockFit fit_clock(std::span<const ClockPoint> points);

}  // namespace marrow::measure
