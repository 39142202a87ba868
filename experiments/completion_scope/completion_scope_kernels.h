// SPDX-License-Identifier: Apache-2.0
// What completion_scope.cu offers to plain C++.
#pragma once

#include <string_view>

#include "experiments/common/gpu/jobs.h"
#include "gpu/launch.h"

namespace marrow::experiments {

/// By the values of the axes `sharing` and `scope`. PutJob::set is used.
[[nodiscard]] gpu::Kernel<PutJob> completion_scope_kernel(std::string_view sharing, std::string_view scope);

}  // namespace marrow::experiments
