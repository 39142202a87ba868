// SPDX-License-Identifier: Apache-2.0
// CUDA's errors as exceptions, and a device that is current for a scope.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "util/error.h"

namespace marrow::cx7::cuda {

/// \throws util::Error "<what>: <CUDA's words>". Forgets the error on CUDA's side, where the application would find it.
inline void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw util::Error(std::string(what) + ": " + cudaGetErrorString(error));
}

/// Makes a device current; the application's choice comes back at the end.
class Current {
 public:
  explicit Current(int gpu) {
    cudaGetDevice(&before_);
    require(cudaSetDevice(gpu), "the engine's GPU");
  }
  ~Current() { cudaSetDevice(before_); }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  int before_ = 0;
};

}  // namespace marrow::cx7::cuda
