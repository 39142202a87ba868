// SPDX-License-Identifier: Apache-2.0
// The macros that let the same constexpr code run on the host and in a CUDA kernel.
#pragma once

#if defined(__CUDACC__)
#define MARROW_HD __host__ __device__
#define MARROW_HD_AWAY __host__ __device__ __noinline__  // for what must not stand among the instructions of its caller
#else
#define MARROW_HD
#define MARROW_HD_AWAY __attribute__((noinline))
#endif
