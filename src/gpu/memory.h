// SPDX-License-Identifier: Apache-2.0
// Memory that a GPU lane can load from and store to, and that the device can be told of: the GPU's own, or the host's.
// Never managed memory: the NIC cannot follow pages that move.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "gpu/device.h"
#include "verbs/memory.h"

namespace marrow::gpu {

/// cudaMalloc'ed, zeroed, 64 KiB aligned. The Device must outlive it. \throws util::Error.
[[nodiscard]] std::unique_ptr<verbs::Memory> gpu_memory(Device& device, std::size_t bytes);
/// Host memory that the GPU reaches under the same address (cudaHostAlloc), zeroed, 64 KiB aligned.
[[nodiscard]] std::unique_ptr<verbs::Memory> pinned_memory(Device& device, std::size_t bytes);

/// Pieces of one allocation of `bytes`, each on 64 KiB and zeroed; where thousands of allocations would take seconds.
/// Taken pieces keep the allocation. The source throws util::Error when it has no more.
[[nodiscard]] verbs::MemorySource gpu_pool(Device& device, std::size_t bytes);

/// As sources of queues and payload.
[[nodiscard]] inline verbs::MemorySource gpu_source(Device& device) {
  return [&device](std::size_t bytes) { return gpu_memory(device, bytes); };
}
[[nodiscard]] inline verbs::MemorySource pinned_source(Device& device) {
  return [&device](std::size_t bytes) { return pinned_memory(device, bytes); };
}

/// What kernels write for the host: `count` zeroed objects in GPU memory.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array(Device& device, std::size_t count) : memory_(gpu_memory(device, count * sizeof(T))), count_(count) {}
  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(memory_->data()); }
  [[nodiscard]] std::size_t size() const { return count_; }
  /// The first `count` of them, after the kernel has ended.
  [[nodiscard]] std::vector<T> read(std::size_t count) const {
    std::vector<T> values(count);
    memory_->read(0, std::as_writable_bytes(std::span(values)));
    return values;
  }
  [[nodiscard]] std::vector<T> read() const { return read(count_); }
  void write(std::span<const T> values) { memory_->write(0, std::as_bytes(values)); }

 private:
  std::unique_ptr<verbs::Memory> memory_;
  std::size_t count_;
};

}  // namespace marrow::gpu
