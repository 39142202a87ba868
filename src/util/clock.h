// SPDX-License-Identifier: Apache-2.0
// The clock of host code: CLOCK_MONOTONIC through the vDSO, about 20 ns a call and no system call. Not the TSC: its
// rate would have to be calibrated, and two sockets may disagree. Device code has its own timer.
#pragma once

#include <chrono>

namespace marrow::util {

/// Nanoseconds since an arbitrary, fixed start; never goes back; comparable between processes of one machine.
[[nodiscard]] inline std::chrono::nanoseconds now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace marrow::util
