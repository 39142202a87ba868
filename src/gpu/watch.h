// SPDX-License-Identifier: Apache-2.0
// Looks at a GPU before, while and after something runs on it, from a thread that sleeps between them: a row's clock
// and what slowed it. Nothing of it is inside a timed window; on gpu lanes those are the GPU's.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "gpu/nvml.h"

namespace marrow::gpu {

class Watch {
 public:
  /// Looks, and goes on looking. \throws util::Error as Nvml does.
  explicit Watch(const std::string& bus_id, std::chrono::milliseconds every = std::chrono::milliseconds(250));
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Looks a last time. \returns all looks in the order of time: the first before, the last after. Call once.
  [[nodiscard]] std::vector<NvmlLook> finish();

 private:
  void stop();

  Nvml gpu_;
  std::vector<NvmlLook> looks_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace marrow::gpu
