// SPDX-License-Identifier: Apache-2.0
// The GPU lane of proxy-enqueue in a build without CUDA.
#include "experiments/proxy_enqueue/lane.h"

namespace marrow::experiments::enqueue {

std::function<void(Context&, const Point&, measure::Record&)> on_gpu() {
  return {};
}

}  // namespace marrow::experiments::enqueue
