// SPDX-License-Identifier: Apache-2.0
// mini-proxy's lanes under load.
#include "experiments/common/load/gpu/load_lanes.cuh"
#include "experiments/common/load/policies.h"

namespace marrow::experiments {

LoadKernels<proxy::Ring> proxy_load_kernels() {
  return load_kernels_of<ProxyWay<LoadHandOff>, ProxyPoster<LoadHandOff>, ProxyWay<LoadHandOff>, proxy::Ring>(
      "mini-proxy under load");
}

}  // namespace marrow::experiments
