// SPDX-License-Identifier: Apache-2.0
// Inside src/gpu: CUDA's error numbers as our errors, and waits that end.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <string_view>

#include "gpu/device.h"

namespace marrow::gpu {

/// \throws util::Error "<what>: <CUDA's words>" unless `result` is success. Forgets the error on CUDA's side.
void check(cudaError_t result, std::string_view what);

inline cudaStream_t stream_of(const Device& device) {
  return static_cast<cudaStream_t>(device.setup_stream());
}

/// True once all work of the stream has ended, false when `limit` has passed. Looks every 50 us.
/// \throws util::Error when a kernel of this GPU has crashed; the device is broken then.
[[nodiscard]] bool ended_within(Device& device, cudaStream_t stream, std::chrono::nanoseconds limit);

/// For fills and copies: waits 10 s at most. \throws util::Error, and the device is broken then.
void finish_setup(Device& device, std::string_view what);

}  // namespace marrow::gpu
