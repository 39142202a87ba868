// SPDX-License-Identifier: Apache-2.0
// What src/gpu has of CUDA where CUDA was not found: a refusal.
#include "gpu/device.h"
#include "util/error.h"

namespace marrow::gpu {

std::shared_ptr<Device> open(int /*index*/) {
  throw util::Error(kNotBuilt, util::ErrorKind::kWaived, kOnHostInstead);
}

}  // namespace marrow::gpu
