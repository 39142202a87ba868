// SPDX-License-Identifier: Apache-2.0
// See cuda_call.cuh. Facts: cudaStreamQuery returns the error of an earlier kernel, and all later calls of the process
// return it too [prm: CUDA runtime, sticky errors].
#include "gpu/cuda_call.cuh"

#include <fmt/format.h>

#include <thread>

#include "util/clock.h"
#include "util/error.h"

namespace marrow::gpu {

void check(cudaError_t result, std::string_view what) {
  if (result == cudaSuccess) return;
  (void)cudaGetLastError();
  throw util::Error(fmt::format("{}: {} (CUDA error {})", what, cudaGetErrorString(result), static_cast<int>(result)));
}

bool ended_within(Device& device, cudaStream_t stream, std::chrono::nanoseconds limit) {
  constexpr std::chrono::microseconds kBetweenLooks{50};
  const auto until = util::now() + limit;
  for (;;) {
    const auto state = cudaStreamQuery(stream);
    if (state == cudaSuccess) return true;
    if (state != cudaErrorNotReady) {
      device.break_down();
      check(state, fmt::format("a kernel on GPU {}", device.index()));
    }
    (void)cudaGetLastError();  // "not ready" is no error of anybody's
    if (util::now() >= until) return false;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

void finish_setup(Device& device, std::string_view what) {
  constexpr std::chrono::seconds kLimit{10};
  if (ended_within(device, stream_of(device), kLimit)) return;
  device.break_down();
  throw util::Error(fmt::format("{} on GPU {} did not end within {} s", what, device.index(), kLimit.count()));
}

}  // namespace marrow::gpu
