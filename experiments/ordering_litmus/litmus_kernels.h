// SPDX-License-Identifier: Apache-2.0
// What the .cu files offer to plain C++: one kernel for each of gda::OrderingPolicies.
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
/// Inline, and the doorbell is a word for a host thread.
[[nodiscard]] gpu::Kernel<LitmusLaunch> litmus_word_kernel(std::string_view policy);

}  // namespace marrow::experiments
