// SPDX-License-Identifier: Apache-2.0
// Many writes by pointer are outstanding; each has a place of its own at the far side, and is compared after the
// repetition. The link's own reference stands in place of the paper's 24.8 GB/s.
#include "experiments/goodput/goodput.h"

#include "experiments/common/load/bulk_shape.h"
#include "experiments/common/load/host_lanes.h"
#include "experiments/goodput/goodput_results.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/common/load/gpu/gpu_lanes.h"
#endif

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kDepth = 4096;
constexpr std::uint32_t kSendDepth = 512;

template <class Lanes, class T>
Streamed stream(const Context& context, T& transport) {
  typename Lanes::template Burst<T> burst(context, transport, 1);
  Streamed seen{.bytes = transport.ends().shape().bytes, .messages = burst.messages()};
  if (context.warmup > 0) (void)burst.run();
  const BusyWatch watch(context, transport.worker_counters());
  for (std::uint32_t i = 0; i < context.iterations && !context.stopping(); ++i) seen.ns.push_back(burst.run());
  seen.busy = watch.until(transport.worker_counters());
  return seen;
}

template <class Lanes>
Streamed stream_gda(const Context& context, std::uint32_t bytes, bool reports) {
  typename Lanes::Streams streams(context, goodput_cargo(bytes, Lanes::stream_lanes(bytes)));
  if (reports && context.report_path) context.report_path(streams.path(context));
  return stream<Lanes>(context, streams);
}

template <class Lanes>
Streamed stream_proxy(const Context& context, const Point& point, std::uint32_t bytes, bool reports) {
  auto shape = bulk_proxy(point);
  const auto cargo = goodput_cargo(bytes, shape.rings);
  shape.lanes = cargo.lanes;
  shape.depth = kDepth;
  shape.send_depth = kSendDepth;
  shape.both = false;
  typename Lanes::Proxy proxy(context,
                              {.cargo = cargo, .shape = shape, .crowd = {.lanes = 1, .workers = shape.workers}});
  if (reports && context.report_path) context.report_path(proxy.path(context));
  return stream<Lanes>(context, proxy);
}

/// \tparam Lanes  HostLanes or GpuLanes.
template <class Lanes>
void run_goodput(Context& context, const Point& point, measure::Record& record) {
  const bool is_gda = point.path == "mini-gda";
  std::vector<Streamed> sizes;
  for (const auto bytes : kGoodputBytes) {
    const bool first = sizes.empty();
    sizes.push_back(is_gda ? stream_gda<Lanes>(context, bytes, first)
                           : stream_proxy<Lanes>(context, point, bytes, first));
    if (context.stopping()) return;
    add_goodput(context, sizes.back(), record);
  }
  const auto reference = stream_gda<Lanes>(context, kReferenceBytes, false);
  if (context.stopping()) return;
  add_first_size(context, sizes, add_reference(context, reference, record), record);
  record.verified = true;
}

}  // namespace

Experiment goodput() {
  return {
      .name = "goodput",
      .title = "Figure 8 and Table 12, goodput against payload",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; a core a worker",
      .variants = {{"mini-gda", std::string(StreamPolicy::name), {}}, proxy_row(1, 8, 16), proxy_row(4, 32, 16)},
      .iterations = 10,
      .run = run_goodput<HostLanes>,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = run_goodput<GpuLanes>,
#endif
  };
}

}  // namespace marrow::experiments
