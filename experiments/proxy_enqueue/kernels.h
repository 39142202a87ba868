// SPDX-License-Identifier: Apache-2.0
// The kernels of proxy-enqueue's GPU lane, one for each hand-off.
#pragma once

#include <string_view>

#include "experiments/proxy_enqueue/enqueue_job.h"
#include "gpu/clocks.h"
#include "gpu/launch.h"

namespace marrow::experiments::enqueue {

/// What a kernel leaves behind.
struct Report {
  Outcome outcome;
  gpu::Span span;  // the rate of its ticks
  proxy::Counts counts;
};

struct EnqueueJob {
  proxy::Ring ring;
  Block block;
  Report* report = nullptr;
};

struct EnqueueKernels {
  gpu::Kernel<EnqueueJob> timed;
  gpu::Kernel<EnqueueJob> counted;
};
/// Of the hand-off with that name; without an entry when there is none.
[[nodiscard]] EnqueueKernels enqueue_kernels(std::string_view hand_off);

}  // namespace marrow::experiments::enqueue
