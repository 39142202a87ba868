// SPDX-License-Identifier: Apache-2.0
// The GPU lane of the enclosing experiments in a build without CUDA.
#include "experiments/enclosing_kernel/enclosing_kernel.h"

namespace marrow::experiments::enclosing {

std::function<void(Context&, const Point&, measure::Record&)> on_gpu() {
  return {};
}

}  // namespace marrow::experiments::enclosing
