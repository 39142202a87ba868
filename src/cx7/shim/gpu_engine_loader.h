// SPDX-License-Identifier: Apache-2.0
// Brings the engine made of GPU threads into the process: a shared object beside this one, loaded when the settings ask
// for it or the application itself uses CUDA, and never otherwise.
#pragma once

#include "cx7/hca/engine.h"

namespace marrow::cx7 {

[[nodiscard]] GpuChoice gpu_choice();

}  // namespace marrow::cx7
