// SPDX-License-Identifier: Apache-2.0
// Whether sm-clock may lock, on every lane: asked before anything else is looked at.
#pragma once

#include "experiments/experiment.h"
#include "util/error.h"

namespace marrow::experiments {

inline constexpr const char* kHowToLock = "marrow run sm-clock --lane gpu --lock-clocks, as root";

/// \throws util::Error of kind kWaived where the user has not said so.
inline void require_permission(const Context& context) {
  if (context.clock_keeper != nullptr) return;
  throw util::Error("it locks the SM clock of a GPU, for everybody who uses it, and was not told to",
                    util::ErrorKind::kWaived, kHowToLock);
}

}  // namespace marrow::experiments
