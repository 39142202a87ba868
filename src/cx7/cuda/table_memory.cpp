// SPDX-License-Identifier: Apache-2.0
// See table_memory.cuh. Facts: copies on another stream pass a kernel that runs [obs: H200, driver 580].
#include "cx7/cuda/table_memory.cuh"

#include <atomic>
#include <thread>

namespace marrow::cx7::cuda {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

}  // namespace

TableMemory::TableMemory() {
  require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream for the engine's tables");
  require(cudaMalloc(reinterpret_cast<void**>(&tables_), sizeof(Tables)), "memory for the engine's tables");
  clear(tables_, sizeof(Tables));
  require(cudaHostAlloc(reinterpret_cast<void**>(&board_), sizeof(Board), cudaHostAllocMapped), "the engine's board");
  require(cudaHostAlloc(&staging_, kStagingBytes, cudaHostAllocDefault), "the engine's staging buffer");
  std::memset(board_, 0, sizeof *board_);
  Board* theirs = nullptr;
  require(cudaHostGetDevicePointer(reinterpret_cast<void**>(&theirs), board_, 0), "the engine's board");
  if (theirs != board_) throw util::Error("host memory has another address on the GPU; unified addressing is needed");
}

void TableMemory::copy(void* to, const void* from, std::size_t bytes) const {
  require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "a copy to or from the engine's GPU");
  require(cudaStreamSynchronize(stream_), "a copy to or from the engine's GPU");
}

void TableMemory::clear(void* at, std::size_t bytes) const {
  require(cudaMemsetAsync(at, 0, bytes, stream_), "the engine's tables");
  require(cudaStreamSynchronize(stream_), "the engine's tables");
}

void TableMemory::publish(const Shifts& shifts) {
  ++generation_;
  write(tables_->generation, generation_);
  if (!shifts.working()) return;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (std::uint32_t& seen : board_->seen) {
    while (std::atomic_ref(seen).load(std::memory_order_acquire) != generation_) {
      if (const auto failure = shifts.failure(); !failure.empty())
        throw util::Error("the CUDA engine stopped: " + failure);
      if (std::chrono::steady_clock::now() > end) {
        throw util::Error("the CUDA engine does not answer: is the GPU full of other work?");
      }
      std::this_thread::sleep_for(std::chrono::microseconds(5));
    }
  }
}

}  // namespace marrow::cx7::cuda
