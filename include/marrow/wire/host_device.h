// SPDX-License-Identifier: Apache-2.0
// The one macro that lets the same constexpr code run on the host and in a CUDA kernel.
#pragma once

#if defined(__CUDACC__)
#define MARROW_HD __host__ __device__
#else
#define MARROW_HD
#endif
