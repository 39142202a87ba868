// SPDX-License-Identifier: Apache-2.0
// The kernels of inline-payload. Here an inline payload is loaded from memory, as its length is an axis.
#include "experiments/common/gpu/kernels.cuh"
#include "experiments/inline_payload/inline_payload_kernels.h"
#include "experiments/inline_payload/inline_payload_policies.h"

namespace marrow::experiments {
namespace {

template <class P>
PutKernels puts_of() {
  return {.time = gpu::kernel_of(&put_kernel<GdaPoster<P>>, "inline-payload put"),
          .count = gpu::kernel_of(&put_kernel<GdaPoster<P, gda::CountingProbe>>, "inline-payload count")};
}

template <class P>
gpu::Kernel<PutJob> bursts_of() {
  return gpu::kernel_of(&put_kernel<BurstPoster<P, kInlinePayloadBurst>>, "inline-payload burst");
}

}  // namespace

PutKernels inline_payload_puts(PayloadRow row) {
  return row == PayloadRow::kInline ? puts_of<InlinePut>() : puts_of<PointerPut>();
}

gpu::Kernel<PutJob> inline_payload_bursts(PayloadRow row) {
  return row == PayloadRow::kInline ? bursts_of<InlineBatch>() : bursts_of<PointerBatch>();
}

}  // namespace marrow::experiments
