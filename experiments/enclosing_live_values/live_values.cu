// SPDX-License-Identifier: Apache-2.0
// The compute caller with more and more live values, up to what no longer fits into a thread's 255 registers. Those
// with eight are in enclosing_kernel/compute.cu.
#include "experiments/enclosing_kernel/callers.cuh"

namespace marrow::experiments::enclosing {

#define MARROW_LIVE_VALUES(live)                                                                   \
  MARROW_CALLER(compute_##live##_none, compute, live, NoTransport, kInlined, kThreads)             \
  MARROW_CALLER(compute_##live##_mini_gda_inlined, compute, live, MiniGda, kInlined, kThreads)     \
  MARROW_CALLER(compute_##live##_mini_gda_separate, compute, live, MiniGda, kSeparate, kThreads)   \
  MARROW_CALLER(compute_##live##_mini_proxy_inlined, compute, live, MiniProxy, kInlined, kThreads) \
  MARROW_CALLER(compute_##live##_mini_proxy_separate, compute, live, MiniProxy, kSeparate, kThreads)

MARROW_LIVE_VALUES(32)
MARROW_LIVE_VALUES(96)
MARROW_LIVE_VALUES(160)
MARROW_LIVE_VALUES(224)

#define MARROW_ROW(live, path, packaging, name) \
  { "compute", live, path, packaging, gpu::kernel_of(name, #name) }
#define MARROW_ROWS(live)                                                             \
  MARROW_ROW(live, "none", "", compute_##live##_none),                                \
      MARROW_ROW(live, "mini-gda", "inlined", compute_##live##_mini_gda_inlined),     \
      MARROW_ROW(live, "mini-gda", "separate", compute_##live##_mini_gda_separate),   \
      MARROW_ROW(live, "mini-proxy", "inlined", compute_##live##_mini_proxy_inlined), \
      MARROW_ROW(live, "mini-proxy", "separate", compute_##live##_mini_proxy_separate)

std::vector<CallerKernel> live_value_kernels() {
  return {MARROW_ROWS(32), MARROW_ROWS(96), MARROW_ROWS(160), MARROW_ROWS(224)};
}

}  // namespace marrow::experiments::enclosing
