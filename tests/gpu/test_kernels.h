// SPDX-License-Identifier: Apache-2.0
// Kernels of launch_test.cpp that take their time.
#pragma once

#include <cstdint>

#include "gpu/launch.h"

namespace marrow::test {

struct SpinJob {
  std::uint64_t ns = 0;                 // ends after that long in any case
  const std::uint32_t* stop = nullptr;  // and earlier when this is not 0; null: never
  std::uint64_t* ended = nullptr;       // becomes 1: stopped, or 2: ran its time
};

[[nodiscard]] gpu::Kernel<SpinJob> spin_kernel();

}  // namespace marrow::test
