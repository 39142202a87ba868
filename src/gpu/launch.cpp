// SPDX-License-Identifier: Apache-2.0
// See launch.h. Facts: a kernel is loaded when it is first used, which may wait for kernels that run [prm: CUDA lazy
// loading]; asking for its attributes loads it beforehand.
#include "gpu/launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/cuda_call.cuh"
#include "gpu/memory.h"
#include "util/clock.h"
#include "util/error.h"

namespace marrow::gpu {
namespace {

cudaStream_t as_stream(void* stream) {
  return static_cast<cudaStream_t>(stream);
}

cudaFuncAttributes load(const void* entry) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, entry), "load a kernel");
  return attributes;
}

}  // namespace

KernelFacts facts_of(Device& device, const void* entry, const Grid& grid) {
  device.use();
  const auto attributes = load(entry);
  KernelFacts facts{.registers = attributes.numRegs,
                    .local_bytes = attributes.localSizeBytes,
                    .shared_bytes = attributes.sharedSizeBytes,
                    .most_threads = attributes.maxThreadsPerBlock};
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&facts.blocks_per_sm, entry, static_cast<int>(grid.threads),
                                                      grid.shared_bytes),
        "ask for a kernel's occupancy");
  return facts;
}

StopWord::StopWord(Device& device) : memory_(pinned_memory(device, sizeof(std::uint32_t))) {}

const std::uint32_t* StopWord::word() const {
  return reinterpret_cast<const std::uint32_t*>(memory_->data());
}

void StopWord::raise() {
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(memory_->data())).store(1, std::memory_order_release);
}

void StopWord::lower() {
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(memory_->data())).store(0, std::memory_order_release);
}

Stream::Stream(Device& device) : device_(device) {
  device_.use();
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "create a CUDA stream");
  stream_ = stream;
}

Stream::~Stream() {
  if (!device_.broken()) (void)cudaStreamDestroy(as_stream(stream_));
}

void Stream::start(const void* entry, const char* name, const Grid& grid, const void* job) {
  device_.use();
  last_ = name;
  (void)load(entry);
  void* arguments[] = {const_cast<void*>(job)};
  check(
      cudaLaunchKernel(entry, dim3(grid.blocks), dim3(grid.threads), arguments, grid.shared_bytes, as_stream(stream_)),
      fmt::format("start kernel {}", name));
}

void Stream::finish(const Patience& patience) {
  constexpr std::chrono::milliseconds kSlice{1};
  constexpr std::chrono::milliseconds kGrace{700};
  const auto until = util::now() + patience.limit;
  auto give_up = std::chrono::nanoseconds::max();
  while (!ended_within(device_, as_stream(stream_), kSlice)) {
    const auto now = util::now();
    const bool asked = patience.stop != nullptr && patience.stop->load(std::memory_order_relaxed);
    if (give_up == std::chrono::nanoseconds::max() && (asked || now >= until)) {
      if (patience.word != nullptr) patience.word->raise();
      give_up = now + kGrace;
    }
    if (now < give_up) continue;
    device_.break_down();
    throw util::Error(fmt::format("kernel {} did not end: neither within {:.1f} s nor when asked to stop", last_,
                                  std::chrono::duration<double>(patience.limit).count()));
  }
}

}  // namespace marrow::gpu
