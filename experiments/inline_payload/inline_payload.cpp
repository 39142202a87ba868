// SPDX-License-Identifier: Apache-2.0
// Inline against pointer over the payload's size: single puts (issue, put+completion), and the rate of batches with one
// doorbell for 16 WQEs on one queue. Facts: a WQE holds 220 inline bytes in four WQEBBs, 28 in one [dv].
#include "experiments/inline_payload/inline_payload.h"

#include <algorithm>

#include "experiments/common/bench.h"
#include "experiments/common/gda_puts.h"
#include "experiments/inline_payload/inline_payload_policies.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/inline_payload/inline_payload_gpu.h"
#endif

namespace marrow::experiments {
namespace {

using measure::Record;

/// Bursts of puts, each one sample of the rate.
template <gda::PolicyType P>
void measure_rate(const Context& context, Bench<verbs::DevxQp>& bench, std::uint32_t bytes, Record& record) {
  auto payload = bench.payload(bytes);
  BurstPoster<P, kInlinePayloadBurst> burst(bench.a().queue.handle(), bench.put_route(bytes));
  (void)put_untimed(context, burst, payload, context.warmup / kInlinePayloadBurst);
  PutTimes times(std::max(context.iterations / 8, 10U));
  put_timed(context, burst, payload, times);
  add_rate(record, context.nic_kind, kInlinePayloadBurst, times.completion);
}

void run_inline_payload(Context& context, const Point& point, Record& record) {
  const auto bytes = static_cast<std::uint32_t>(point.number("bytes"));
  Bench<verbs::DevxQp> bench(context, {.sq_wqebbs = kInlinePayloadSqWqebbs});
  report_path(context, bench, /*lanes=*/1);
  if (point.text("payload") == "inline") {
    measure_gda_puts<InlinePut>(context, bench, bytes, record);
    measure_rate<InlineBatch>(context, bench, bytes, record);
  } else {
    measure_gda_puts<PointerPut>(context, bench, bytes, record);
    measure_rate<PointerBatch>(context, bench, bytes, record);
  }
  record.verified = true;
}

}  // namespace

Experiment inline_payload() {
  const auto row = [](const char* payload) {
    return Variant{"mini-gda", std::string(gda::GpuFence::name), {{"payload", std::string(payload)}}};
  };
  return {
      .name = "inline-payload",
      .title = "Figure 3, payload in the WQE or by pointer",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; gpu lanes: a GPU of sm_90 or newer",
      .variants = {row("inline"), row("pointer")},
      .sweeps = {{.name = "bytes",
                  .meaning = "payload of one put",
                  .values = {8, 28, 60, 92, 156, 220},
                  .min = 4,
                  .max = kMostInline,
                  .step = 4}},
      .run = run_inline_payload,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = inline_payload_on_gpu,
#endif
  };
}

}  // namespace marrow::experiments
