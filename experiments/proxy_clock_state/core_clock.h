// SPDX-License-Identifier: Apache-2.0
// The state of the host's cores: brought about, and measured.
#pragma once

#include <chrono>

#include "experiments/experiment.h"

namespace marrow::experiments {

/// Nobody of this process does anything, for so long. Returns early when the run is being stopped.
void rest_cores(const Context& context, std::chrono::milliseconds time);
/// A thread a core does arithmetic for so long.
void load_cores(const Context& context, std::chrono::milliseconds time);

/// Cycles a microsecond of the core that this thread is on: the time of a chain of multiplications, each of which waits
/// for the one before it. Some 3 ms.
[[nodiscard]] double core_mhz(const Context& context);

}  // namespace marrow::experiments
