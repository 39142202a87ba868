// SPDX-License-Identifier: Apache-2.0
// The streaming caller: with sixteen live values for enclosing-kernel, with eight for enclosing-residency, whose point
// is eight blocks an SM.
#include "experiments/enclosing_kernel/callers.cuh"

namespace marrow::experiments::enclosing {

MARROW_CALLER(stream_16_none, stream, 16, NoTransport, kInlined, kThreads)
MARROW_CALLER(stream_16_mini_gda_inlined, stream, 16, MiniGda, kInlined, kThreads)
MARROW_CALLER(stream_16_mini_gda_separate, stream, 16, MiniGda, kSeparate, kThreads)
MARROW_CALLER(stream_16_mini_proxy_inlined, stream, 16, MiniProxy, kInlined, kThreads)
MARROW_CALLER(stream_16_mini_proxy_separate, stream, 16, MiniProxy, kSeparate, kThreads)
MARROW_CALLER(stream_8_none, stream, 8, NoTransport, kInlined, kThreads)
MARROW_CALLER(stream_8_mini_gda_inlined, stream, 8, MiniGda, kInlined, kThreads)
MARROW_CALLER(stream_8_mini_gda_bounded, stream, 8, MiniGda, kSeparate, kThreads, 8)
MARROW_CALLER(stream_8_mini_proxy_inlined, stream, 8, MiniProxy, kInlined, kThreads)
MARROW_CALLER(stream_8_mini_proxy_bounded, stream, 8, MiniProxy, kSeparate, kThreads, 8)

std::vector<CallerKernel> stream_kernels() {
  const auto row = [](std::uint32_t live, const char* path, const char* packaging, void (*entry)(Job),
                      const char* name) {
    return CallerKernel{"stream", live, path, packaging, gpu::kernel_of(entry, name)};
  };
  return {row(16, "none", "", stream_16_none, "stream_16_none"),
          row(16, "mini-gda", "inlined", stream_16_mini_gda_inlined, "stream_16_mini_gda_inlined"),
          row(16, "mini-gda", "separate", stream_16_mini_gda_separate, "stream_16_mini_gda_separate"),
          row(16, "mini-proxy", "inlined", stream_16_mini_proxy_inlined, "stream_16_mini_proxy_inlined"),
          row(16, "mini-proxy", "separate", stream_16_mini_proxy_separate, "stream_16_mini_proxy_separate"),
          row(8, "none", "", stream_8_none, "stream_8_none"),
          row(8, "mini-gda", "inlined", stream_8_mini_gda_inlined, "stream_8_mini_gda_inlined"),
          row(8, "mini-gda", "bounded", stream_8_mini_gda_bounded, "stream_8_mini_gda_bounded"),
          row(8, "mini-proxy", "inlined", stream_8_mini_proxy_inlined, "stream_8_mini_proxy_inlined"),
          row(8, "mini-proxy", "bounded", stream_8_mini_proxy_bounded, "stream_8_mini_proxy_bounded")};
}

}  // namespace marrow::experiments::enclosing
