// SPDX-License-Identifier: Apache-2.0
// The way into this shared object: one function by which the software NIC gets its engine made of GPU threads.
#pragma once

#include <cstdint>

#include "cx7/hca/gpu_engine.h"

namespace marrow::cx7::cuda {

struct EngineOptions {
  int gpu = -1;  // the engine's GPU; -1: where the first adopted queue lies
  std::uint32_t shift_ms = 2;
  bool strict = true;  // as cx7::Checking
  void (*warn)(const char* sentence) = nullptr;
};

}  // namespace marrow::cx7::cuda

/// The process's engine, or null with `*why` set to a sentence that lives for ever. Never destroyed.
extern "C" __attribute__((visibility("default"))) marrow::cx7::GpuEngine* marrow_cx7_cuda_engine(
    const marrow::cx7::cuda::EngineOptions* options, const char** why);
