// SPDX-License-Identifier: Apache-2.0
// Single puts by pointer, every byte compared after each. mini-proxy through a ring and a worker that have nothing else
// to do.
#include "experiments/latency_payload/latency_payload.h"

#include "experiments/common/load/host_single.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/latency_payload/latency_payload_gpu.h"
#endif

namespace marrow::experiments {
namespace {

using PointerPolicy = gda::Pointer<gda::GpuFence>;

constexpr std::int64_t kMostBytes = 1 << 20;

void add_puts(const Context& context, const char* issue, const PutTimes& times, measure::Record& record) {
  record.counts.operations = times.issue.size();
  add_time(record, issue, measure::Kind::kHostLane, times.issue);
  add_time(record, "put+completion", context.nic_kind, times.completion);
  record.verified = true;
}

void run_latency_payload(Context& context, const Point& point, measure::Record& record) {
  const auto bytes = static_cast<std::uint32_t>(point.number("bytes"));
  Context brief = context;  // long payloads take long to compare
  brief.warmup = std::min(context.warmup, context.iterations / 4);
  if (point.path == "mini-gda") {
    HostGda gda(context, {.cargo = {.lanes = 1, .places = 1, .bytes = bytes}, .sq_wqebbs = 128});
    if (context.report_path) context.report_path(gda.path(context));
    const auto cargo = gda.ends().cargo(End::kNear, 0);
    GdaPoster<PointerPolicy> poster(gda.ends().end(End::kNear).queues[0].handle(), {cargo.from, cargo.to, cargo.bytes});
    return add_puts(context, "issue", single_puts(brief, poster, cargo), record);
  }
  auto proxy = idle_proxy<proxy::Tuned>(context, bytes, false);
  if (context.report_path) context.report_path(proxy.path(context));
  const auto cargo = proxy.ends().cargo(End::kNear, 0);
  auto poster = proxy.single_poster(cargo);
  add_puts(context, "enqueue", single_puts(brief, poster, cargo), record);
}

}  // namespace

Experiment latency_payload() {
  return {
      .name = "latency-payload",
      .title = "Figure 11, one put against its payload",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; gpu lanes: a GPU of sm_90 or newer",
      .variants = {{"mini-gda", std::string(PointerPolicy::name), {{"payload", std::string("pointer")}}},
                   {"mini-proxy", std::string(proxy::Tuned::name), {{"payload", std::string("pointer")}}}},
      .sweeps = {{.name = "bytes",
                  .meaning = "payload of a put",
                  .values = {8, 64, 512, 2048, 7168, 32768, 262144, kMostBytes},
                  .min = 8,
                  .max = kMostBytes,
                  .step = 8}},
      .iterations = 100,
      .run = run_latency_payload,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = latency_payload_on_gpu,
#endif
  };
}

}  // namespace marrow::experiments
