// SPDX-License-Identifier: Apache-2.0
// The two ways of host-doorbell, and what one put by either must cost, for both lanes.
#pragma once

#include <string_view>

#include "marrow/gda/policy.h"
#include "marrow/gda/probe.h"

namespace marrow::experiments {

using RungByLane = gda::GpuFence;
using RungForLane = gda::Forwarded<gda::GpuFence>;

inline constexpr std::string_view kByLane = "lane";
inline constexpr std::string_view kByHost = "host";

/// One put of 8 bytes. Rung by the host, the lane stores a word in place of record and doorbell, which counts as its
/// doorbell.
constexpr gda::Counts counts_of_put(bool by_host) {
  return {.wqes = 1,
          .wqe_stores = 3,
          .wqebbs = 1,
          .gpu_fences = 1,
          .dbrecs = by_host ? 0U : 1U,
          .doorbells = 1,
          .cqes = 1,
          .acquire_fences = 1};
}

}  // namespace marrow::experiments
