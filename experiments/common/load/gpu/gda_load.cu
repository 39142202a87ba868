// SPDX-License-Identifier: Apache-2.0
// mini-gda's lanes under load.
#include "experiments/common/load/gpu/load_lanes.cuh"
#include "experiments/common/load/policies.h"

namespace marrow::experiments {

LoadKernels<gda::Qp> gda_load_kernels() {
  return load_kernels_of<GdaWay<LoadPolicy, kLoadBatch>, SharedPoster<LoadPolicy>, GdaWay<StreamPolicy, kLoadBatch>,
                         gda::Qp>("mini-gda under load");
}

}  // namespace marrow::experiments
