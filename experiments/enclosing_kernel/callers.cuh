// SPDX-License-Identifier: Apache-2.0
// The two kinds of useful work around a send, each with `Live` values a thread that must survive it. Device code only.
// compute: polynomials whose coefficients come from shared memory, a step ahead; bound by the FMA units. Steps go in
// pairs (an odd number has one more), so that what was loaded ahead needs no copy: then the compiler makes the same
// loop of it whatever stands before.
// stream: running sums over more memory than the L2 holds; bound by memory.
#pragma once

#include "experiments/enclosing_kernel/transports.cuh"

namespace marrow::experiments::enclosing {

__device__ __forceinline__ void stamp(std::uint64_t& at) {
  __syncthreads();
  if (threadIdx.x == 0) at = gda::lane_clock_ns();
}

template <std::uint32_t Live>
__device__ __forceinline__ void finish(const Job& job, const float (&x)[Live]) {
  float sum = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < Live; ++k) sum += x[k];
  job.result[blockIdx.x * kThreads + threadIdx.x] = sum;
  stamp(job.times[blockIdx.x].ended);
}

template <std::uint32_t Live>
__device__ __forceinline__ void apply(float (&x)[Live], const float4& c) {
#pragma unroll
  for (std::uint32_t k = 0; k < Live; ++k) {
    const float t = fmaf(fmaf(x[k], c.w, c.z), x[k], c.y);
    x[k] = fmaf(t, x[k], c.x);
  }
}

template <std::uint32_t Live, class T, Packaging P>
__device__ __forceinline__ void compute(const Job& job) {
  __shared__ float4 table[kCoefficients];
  if (threadIdx.x < kCoefficients) table[threadIdx.x] = reinterpret_cast<const float4*>(job.coefficients)[threadIdx.x];
  stamp(job.times[blockIdx.x].began);
  float x[Live];
#pragma unroll
  for (std::uint32_t k = 0; k < Live; ++k) x[k] = static_cast<float>(threadIdx.x + k) * 0.001f;
  float4 next = table[0];
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    maybe_send<T, P>(job, round);
#pragma unroll 1
    for (std::uint32_t step = 0; step < job.steps; step += 2) {
      const float4 second = table[(step + 1) % kCoefficients];
      apply(x, next);
      next = table[(step + 2) % kCoefficients];
      apply(x, second);
    }
  }
  finish(job, x);
}

template <std::uint32_t Live, class T, Packaging P>
__device__ __forceinline__ void stream(const Job& job) {
  static_assert(Live % 4 == 0);
  constexpr std::uint32_t kVectors = Live / 4;
  stamp(job.times[blockIdx.x].began);
  float x[Live] = {};
  const std::uint32_t threads = gridDim.x * kThreads;
  const auto* mine = reinterpret_cast<const float4*>(job.stream) + blockIdx.x * kThreads + threadIdx.x;
  std::uint32_t chunk = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    maybe_send<T, P>(job, round);
#pragma unroll 1
    for (std::uint32_t step = 0; step < job.steps; ++step, chunk = (chunk + 1) & job.chunk_mask) {
      const auto* from = mine + static_cast<std::uint64_t>(chunk) * threads * kVectors;
#pragma unroll
      for (std::uint32_t v = 0; v < kVectors; ++v) {
        const float4 in = __ldcs(from + v * threads);
        x[4 * v] = fmaf(x[4 * v], 0.5f, in.x);
        x[4 * v + 1] = fmaf(x[4 * v + 1], 0.5f, in.y);
        x[4 * v + 2] = fmaf(x[4 * v + 2], 0.5f, in.z);
        x[4 * v + 3] = fmaf(x[4 * v + 3], 0.5f, in.w);
      }
    }
  }
  finish(job, x);
}

// One kernel: its name as the register test and the profiler see it. __grid_constant__: the job stays in constant
// memory also where a function of its own takes its address.
#define MARROW_CALLER(name, caller, live, transport, packaging, ...)                                \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__) name(const __grid_constant__ Job job) { \
    caller<live, transport, Packaging::packaging>(job);                                             \
  }

}  // namespace marrow::experiments::enclosing
