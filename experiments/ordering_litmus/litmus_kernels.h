// SPDX-License-Identifier: Apache-2.0
// What litmus_inline.cu and litmus_pointer.cu offer to plain C++: one kernel for each of gda::OrderingPolicies.
#pragma once

#include <string_view>

#include "experiments/ordering_litmus/litmus_job.h"
#include "gpu/launch.h"

namespace marrow::experiments {

struct LitmusLaunch {
  LitmusJob job;
  LitmusReport* report = nullptr;  // in GPU memory
};

/// Without entry for an unknown name.
[[nodiscard]] gpu::Kernel<LitmusLaunch> litmus_inline_kernel(std::string_view policy);
[[nodiscard]] gpu::Kernel<LitmusLaunch> litmus_pointer_kernel(std::string_view policy);

}  // namespace marrow::experiments
