// SPDX-License-Identifier: Apache-2.0
// See watch.h.
#include "gpu/watch.h"

#include <utility>

namespace marrow::gpu {

Watch::Watch(const std::string& bus_id, std::chrono::milliseconds every) : gpu_(bus_id), looks_{gpu_.look()} {
  thread_ = std::thread([this, every] {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, every, [this] { return end_; })) looks_.push_back(gpu_.look());
  });
}

Watch::~Watch() {
  stop();
}

void Watch::stop() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::vector<NvmlLook> Watch::finish() {
  stop();
  looks_.push_back(gpu_.look());
  return std::move(looks_);
}

}  // namespace marrow::gpu
