// SPDX-License-Identifier: Apache-2.0
// The compute caller with eight live values, without communication code and with each transport built in three ways.
// tests/enclosing reads their registers from the compiler.
#include "experiments/enclosing_kernel/callers.cuh"

namespace marrow::experiments::enclosing {

// "bounded": the caller says that eight blocks shall fit on an SM, and the communication code is a function of its own.
// Then what is short of registers spills where it is short: in that function and around its call, and the inner loop
// keeps to registers.
constexpr int kResidentBlocks = 8;

MARROW_CALLER(compute_8_none, compute, 8, NoTransport, kInlined, kThreads)
MARROW_CALLER(compute_8_mini_gda_inlined, compute, 8, MiniGda, kInlined, kThreads)
MARROW_CALLER(compute_8_mini_gda_separate, compute, 8, MiniGda, kSeparate, kThreads)
MARROW_CALLER(compute_8_mini_gda_bounded, compute, 8, MiniGda, kSeparate, kThreads, kResidentBlocks)
MARROW_CALLER(compute_8_mini_proxy_inlined, compute, 8, MiniProxy, kInlined, kThreads)
MARROW_CALLER(compute_8_mini_proxy_separate, compute, 8, MiniProxy, kSeparate, kThreads)
MARROW_CALLER(compute_8_mini_proxy_bounded, compute, 8, MiniProxy, kSeparate, kThreads, kResidentBlocks)

std::vector<CallerKernel> compute_kernels() {
  const auto row = [](const char* path, const char* packaging, void (*entry)(Job), const char* name) {
    return CallerKernel{"compute", 8, path, packaging, gpu::kernel_of(entry, name)};
  };
  return {row("none", "", compute_8_none, "compute_8_none"),
          row("mini-gda", "inlined", compute_8_mini_gda_inlined, "compute_8_mini_gda_inlined"),
          row("mini-gda", "separate", compute_8_mini_gda_separate, "compute_8_mini_gda_separate"),
          row("mini-gda", "bounded", compute_8_mini_gda_bounded, "compute_8_mini_gda_bounded"),
          row("mini-proxy", "inlined", compute_8_mini_proxy_inlined, "compute_8_mini_proxy_inlined"),
          row("mini-proxy", "separate", compute_8_mini_proxy_separate, "compute_8_mini_proxy_separate"),
          row("mini-proxy", "bounded", compute_8_mini_proxy_bounded, "compute_8_mini_proxy_bounded")};
}

void allow_shared_bytes(const gpu::Kernel<Job>& kernel, std::size_t bytes) {
  cudaFuncSetAttribute(kernel.entry, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

}  // namespace marrow::experiments::enclosing
