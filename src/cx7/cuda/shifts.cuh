// SPDX-License-Identifier: Apache-2.0
// The host's thread that keeps the engine's shifts coming (shift.cu has why), from the first queue pair to the last.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "cx7/cuda/tables.h"

namespace marrow::cx7::cuda {

class Shifts {
 public:
  /// `order` without its number. Makes streams and thread; throws util::Error. The current device is the engine's.
  Shifts(int gpu, const ShiftOrder& order);
  Shifts(const Shifts&) = delete;
  Shifts& operator=(const Shifts&) = delete;

  /// Work until `stop()`. Returns when the first shift was launched; false when the GPU refused.
  bool start();
  /// Returns when no shift is on the GPU any more.
  void stop();
  /// False while stopped, and for good after the GPU failed.
  [[nodiscard]] bool working() const { return working_.load(std::memory_order_acquire); }
  /// Returns when all warps belong to a shift that was launched after this call: CUDA promises a kernel nothing of
  /// memory that was allocated or registered after its launch, and tools that check it say so. A few ms; after 50 ms,
  /// when the GPU has no room for another shift, all the same.
  void await_later_shift() const;
  /// What the GPU said, "" as long as all is well.
  [[nodiscard]] std::string failure() const;

 private:
  void run();
  void work();
  cudaError_t launch();
  bool set_turn();
  bool ended(std::uint32_t shift);
  void fail(cudaError_t error, const char* what);

  int gpu_;
  ShiftOrder order_;
  std::array<cudaStream_t, 2> streams_{};
  mutable std::mutex mutex_;
  mutable std::mutex launch_;  // held over a launch
  std::uint32_t launched_ = 0;
  std::condition_variable changed_;
  bool wanted_ = false;
  std::atomic<bool> working_{false};
  bool ended_ = true;
  std::string failure_;
};

}  // namespace marrow::cx7::cuda
