// SPDX-License-Identifier: Apache-2.0
// Time on a GPU lane: clock64 counts SM cycles and is fine enough for one store; globaltimer counts nanoseconds, in
// steps that are too coarse for that. So lanes time with clock64 and carry the rate along, measured in the same kernel.
// Facts: both registers [prm: PTX ISA]; globaltimer's step differs between GPUs and is measured, not assumed.
#pragma once

#include <cstdint>

#include "gpu/device.h"
#include "marrow/gda/team.h"

namespace marrow::gpu {

/// Both clocks of a lane at one moment.
struct Moment {
  std::uint64_t ns = 0;
  std::uint64_t ticks = 0;
};

/// At a moment at which the coarse clock steps, so that its step is no error. Waits for one step.
MARROW_HD inline Moment moment_of_step() {
  const auto before = gda::lane_clock_ns();
  auto ns = before;
  while (ns == before) ns = gda::lane_clock_ns();
  return {ns, gda::lane_ticks()};
}

/// The rate of a lane's ticks over the span in which they were taken.
struct Span {
  static constexpr std::uint64_t kLeastNs = 2'000'000;  // a step of 1 us is then 0.05 %
  Moment from;
  Moment to;

  MARROW_HD void begin() { from = moment_of_step(); }
  /// Waits until the span is long enough to tell a rate.
  MARROW_HD void end() {
    do {
      to = moment_of_step();
    } while (to.ns - from.ns < kLeastNs);
  }
  [[nodiscard]] double ns_per_tick() const {
    return static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
  }
};

/// Runs one thread for 10 ms. \throws util::Error.
[[nodiscard]] Clocks measure_clocks(Device& device);

}  // namespace marrow::gpu
