// SPDX-License-Identifier: Apache-2.0
// The sweep over SM clocks: which, in which order, and from times to fits. Who locks, measures a clock and puts is
// handed in, so that all of it is tested without a GPU.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "experiments/common/host_clerk.h"
#include "measure/record.h"

namespace marrow::experiments {

/// Up to `count` clocks, evenly spaced in 1/f as in the paper's figure: from the highest down to 502/1845 of it.
/// \param there  what the GPU can be locked to, the highest first.
[[nodiscard]] std::vector<unsigned> clocks_of_sweep(std::span<const unsigned> there, unsigned count = 6);

/// What a sweep needs of a GPU.
struct ClockBench {
  std::function<void(unsigned mhz)> lock;
  std::function<double()> measured_mhz;  // now, by the GPU's own two clocks
  std::function<PutTimes()> puts;        // one cell of the sweep
};

/// One clock in one pass.
struct ClockCell {
  unsigned pass = 0;
  unsigned asked_mhz = 0;
  double mhz = 0;  // as it was measured
  PutTimes times;
};

/// Every clock in every pass, each pass in another order, so that a drift falls on no clock alone.
/// \throws util::Error when the GPU does not run at the clock that it was locked to.
[[nodiscard]] std::vector<ClockCell> sweep_clocks(std::span<const unsigned> clocks, unsigned passes,
                                                  const ClockBench& bench);

/// Adds both times at each clock, and of each the fit T(f) = C/f + B: one sample of C, B and R2 a pass, over that
/// pass's medians.
void add_sweep(measure::Record& record, measure::Kind nic, const std::vector<ClockCell>& cells);

}  // namespace marrow::experiments
