// SPDX-License-Identifier: Apache-2.0
// The GPU that a test program runs on, opened before the first test.
#pragma once

#include <memory>

#include "gpu/device.h"

namespace marrow::test {

[[nodiscard]] const std::shared_ptr<gpu::Device>& the_gpu();

}  // namespace marrow::test
