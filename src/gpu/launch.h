// SPDX-License-Identifier: Apache-2.0
// Running a kernel so that the host never hangs with it. A kernel takes one plain struct, its job; the .cu file hands
// out a Kernel<Job>, and everything else of an experiment is plain C++.
//
//   // put.cu:   __global__ void put(PutJob job) {...}    Kernel<PutJob> put_kernel() { return kernel_of(&put, "put");
//   }
//   // put.cpp:  run(device, put_kernel(), {.blocks = 1, .threads = 1}, job, {.limit = 10s});
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "gpu/device.h"
#include "verbs/memory.h"

namespace marrow::gpu {

template <class Job>
struct Kernel {
  const void* entry = nullptr;
  const char* name = "";
};

template <class Job>
[[nodiscard]] Kernel<Job> kernel_of(void (*entry)(Job), const char* name) {
  static_assert(std::is_trivially_copyable_v<Job>, "a kernel's job is copied byte by byte");
  return {reinterpret_cast<const void*>(entry), name};
}

struct Grid {
  unsigned blocks = 1;
  unsigned threads = 1;
  std::size_t shared_bytes = 0;
};

/// What the compiler and the driver say of a kernel.
struct KernelFacts {
  int registers = 0;            // a thread
  std::size_t local_bytes = 0;  // a thread: spills and arrays
  std::size_t shared_bytes = 0;
  int most_threads = 0;  // a block
  int blocks_per_sm = 0;
};
[[nodiscard]] KernelFacts facts_of(Device& device, const void* entry, const Grid& grid);
template <class Job>
[[nodiscard]] KernelFacts facts_of(Device& device, const Kernel<Job>& kernel, const Grid& grid = {}) {
  return facts_of(device, kernel.entry, grid);
}

/// A word in host memory that kernels look at now and then, outside what they time: not zero asks them to end.
class StopWord {
 public:
  explicit StopWord(Device& device);
  [[nodiscard]] const std::uint32_t* word() const;
  void raise();
  void lower();

 private:
  std::unique_ptr<verbs::Memory> memory_;
};

/// How long the host waits, and who may ask it to stop earlier.
struct Patience {
  std::chrono::nanoseconds limit = std::chrono::seconds(60);
  const std::atomic<bool>* stop = nullptr;  // of the run
  StopWord* word = nullptr;                 // raised when the limit is over or `stop` is set
};

/// A CUDA stream of its own that waits for no other.
class Stream {
 public:
  explicit Stream(Device& device);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  template <class Job>
  void start(const Kernel<Job>& kernel, const Grid& grid, const Job& job) {
    start(kernel.entry, kernel.name, grid, &job);
  }
  /// Returns when all that was started has ended. When the time is over it asks the kernel to stop, and 0.7 s later
  /// gives the GPU up: the device is broken then. \throws util::Error for that and for a kernel that crashed.
  void finish(const Patience& patience);

 private:
  void start(const void* entry, const char* name, const Grid& grid, const void* job);

  Device& device_;
  void* stream_ = nullptr;
  const char* last_ = "";
};

/// One kernel from start to end.
template <class Job>
void run(Device& device, const Kernel<Job>& kernel, const Grid& grid, const Job& job, const Patience& patience) {
  Stream stream(device);
  stream.start(kernel, grid, job);
  stream.finish(patience);
}

}  // namespace marrow::gpu
