// SPDX-License-Identifier: Apache-2.0
// Who acts together at stop 2 of 9, and the few things that differ between a GPU lane and a host lane: clock, pause,
// bounded spin. Beside order.h the only file of mini-gda that asks which compiler it has.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "marrow/gda/check_policy.h"
#include "marrow/gda/status.h"

#if !defined(__CUDA_ARCH__)
#include <chrono>
#include <thread>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#endif

namespace marrow::gda {

#if defined(__CUDA_ARCH__)
inline constexpr Lane kLane = Lane::kGpu;
#elif defined(__CUDACC__)
inline constexpr Lane kLane = Lane::kUnknown;  // nvcc's host pass instantiates kernels' templates too
#else
inline constexpr Lane kLane = Lane::kHost;
#endif

/// One lane by itself; the only team of host lanes. Lanes of a warp that are teams of their own may wait for each
/// other.
struct Solo {
  [[nodiscard]] MARROW_HD static constexpr std::uint32_t rank() { return 0; }
  [[nodiscard]] MARROW_HD static constexpr std::uint32_t size() { return 1; }
  MARROW_HD static constexpr void sync() {}
  [[nodiscard]] MARROW_HD static constexpr bool any(bool mine) { return mine; }
  template <class T>
  [[nodiscard]] MARROW_HD static constexpr T broadcast(const T& of_leader) {
    return of_leader;
  }
  [[nodiscard]] MARROW_HD static Result first_failure(const Result& mine) { return mine; }
};

#if defined(__CUDACC__)
/// The 32 lanes of a warp, all of which must make each call. Lane 0 leads.
struct Warp {
  static constexpr unsigned kAll = 0xffffffffu;

  [[nodiscard]] __device__ static std::uint32_t rank() {
    std::uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
  }
  [[nodiscard]] __device__ static constexpr std::uint32_t size() { return 32; }
  /// Also makes the lanes' earlier stores part of what the leader's next fence or release store orders.
  __device__ static void sync() { __syncwarp(kAll); }
  [[nodiscard]] __device__ static bool any(bool mine) { return __any_sync(kAll, mine) != 0; }
  /// `of_leader` of lane 0, in every lane.
  template <class T>
  [[nodiscard]] __device__ static T broadcast(const T& of_leader) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::uint32_t words[(sizeof(T) + 3) / 4] = {};
    memcpy(words, &of_leader, sizeof(T));
    for (auto& word : words) word = __shfl_sync(kAll, word, 0);
    T copy = of_leader;
    memcpy(&copy, words, sizeof(T));
    return copy;
  }
  /// The result of the first lane that failed, or success, in every lane.
  [[nodiscard]] __device__ static Result first_failure(const Result& mine) {
    const unsigned failed = __ballot_sync(kAll, !mine.ok());
    const auto word = __shfl_sync(kAll, pack_result(mine), failed == 0 ? 0 : __ffs(static_cast<int>(failed)) - 1);
    return unpack_result(word);
  }
};

/// The threads of a block, all of which must make each call. Thread 0 leads. For a queue of the block's own: a warp
/// costs less (shuffles in place of barriers).
struct Block {
  [[nodiscard]] __device__ static std::uint32_t rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  [[nodiscard]] __device__ static std::uint32_t size() { return blockDim.x * blockDim.y * blockDim.z; }
  /// Also makes the threads' earlier stores part of what the leader's next fence or release store orders.
  __device__ static void sync() { __syncthreads(); }
  [[nodiscard]] __device__ static bool any(bool mine) { return __syncthreads_or(mine) != 0; }
  template <class T>
  [[nodiscard]] __device__ static T broadcast(const T& of_leader) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 64);
    __shared__ alignas(16) unsigned char bytes[64];
    __syncthreads();  // the last broadcast has been read
    if (rank() == 0) memcpy(bytes, &of_leader, sizeof(T));
    __syncthreads();
    T copy = of_leader;
    memcpy(&copy, bytes, sizeof(T));
    return copy;
  }
  [[nodiscard]] __device__ static Result first_failure(const Result& mine) {
    __shared__ unsigned long long failure;
    __syncthreads();
    if (rank() == 0) failure = 0;
    __syncthreads();
    if (!mine.ok()) atomicCAS_block(&failure, 0ull, static_cast<unsigned long long>(pack_result(mine)));
    __syncthreads();
    return unpack_result(failure);
  }
};
#endif

/// Number of this lane's block, and of its warp among all; a host lane is in block 0 and warp 0.
[[nodiscard]] MARROW_HD inline std::uint32_t block_number() {
#if defined(__CUDA_ARCH__)
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
#else
  return 0;
#endif
}
[[nodiscard]] MARROW_HD inline std::uint32_t warp_number() {
#if defined(__CUDA_ARCH__)
  const std::uint32_t threads = blockDim.x * blockDim.y * blockDim.z;
  return block_number() * ((threads + 31) / 32) + Block::rank() / 32;
#else
  return 0;
#endif
}

/// Nanoseconds of a clock that only runs forward. GPU: %globaltimer, whose step is tens of ns to 1 us; for limits only.
[[nodiscard]] MARROW_HD inline std::uint64_t lane_clock_ns() {
#if defined(__CUDA_ARCH__)
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
#else
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(now.count());
#endif
}

/// The finest counter of this lane: SM cycles on a GPU, TSC ticks on an x86 host, else nanoseconds.
[[nodiscard]] MARROW_HD inline std::uint64_t lane_ticks() {
#if defined(__CUDA_ARCH__)
  std::uint64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
#elif defined(__x86_64__)
  return __rdtsc();
#else
  return lane_clock_ns();
#endif
}

/// Counts the spins of a wait. One that ends within 1024 spins reads no clock; then a host lane sleeps between spins,
/// for the NIC may be a thread that has no core. Not sched_yield: each call costs a whole slice, and seconds add up
/// [obs: Linux 6.18].
class Spins {
 public:
  /// Call once a spin that brought nothing. True when the wait is longer than that.
  [[nodiscard]] MARROW_HD bool exceed(const std::uint64_t& limit_ns) {
    ++spins_;
    const bool patient = spins_ <= kSpins;
    relax(patient);
    if (spins_ % (patient ? kSpins : kClockEvery) != 0) return false;
    const auto now = lane_clock_ns();
    if (start_ns_ == 0) start_ns_ = now;
    return now - start_ns_ >= limit_ns;
  }

 private:
  static constexpr std::uint32_t kSpins = 1024;
  static constexpr std::uint32_t kClockEvery = kLane == Lane::kGpu ? kSpins : 16;

  MARROW_HD static void relax([[maybe_unused]] bool patient) {
#if !defined(__CUDA_ARCH__)
    if (!patient) return std::this_thread::sleep_for(std::chrono::microseconds(20));
#if defined(__x86_64__)
    _mm_pause();
#endif
#endif
  }

  std::uint64_t start_ns_ = 0;
  std::uint32_t spins_ = 0;  // behind a wrap a host lane is patient once more
};

/// Bounds a spin.
class SpinLimit {
 public:
  MARROW_HD explicit SpinLimit(std::uint64_t limit_ns) : limit_ns_(limit_ns) {}

  /// Call once a spin that brought nothing.
  [[nodiscard]] MARROW_HD bool expired() { return spins_.exceed(limit_ns_); }

 private:
  std::uint64_t limit_ns_;
  Spins spins_;
};

}  // namespace marrow::gda
