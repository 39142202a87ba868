// SPDX-License-Identifier: Apache-2.0
// Many writes by pointer are outstanding; each has a place of its own at the far side, and is compared after the
// repetition. The link's own reference stands in place of the paper's 24.8 GB/s.
#include "experiments/goodput/goodput.h"

#include "experiments/common/load/bulk_shape.h"
#include "experiments/common/load/host_burst.h"
#include "experiments/common/load/host_proxy.h"
#include "experiments/goodput/goodput_results.h"

namespace marrow::experiments {
namespace {

/// mini-gda with a queue of its own for each lane, and the payload by pointer.
class Streams {
 public:
  using Policy = gda::Pointer<gda::GpuFence>;
  using Way = GdaWay<Policy, kLoadBatch>;

  Streams(const Context& context, const CargoShape& cargo)
      : ends_(context, cargo, {.queues = cargo.lanes, .queue = {.sq_wqebbs = 1024}}, memory_of_host_lanes(context)) {}

  [[nodiscard]] const LoadEnds& ends() const { return ends_; }
  [[nodiscard]] proxy::WorkerCounters worker_counters() const { return {}; }
  [[nodiscard]] Way way(End end, std::uint32_t lane, const Cargo& cargo) {
    return Way(ends_.end(end).queues[lane].handle(), cargo);
  }

 private:
  LoadEnds ends_;
};

template <class T>
Streamed stream(const Context& context, T& transport) {
  HostBurst<T> burst(context, transport, 1);
  Streamed seen{.bytes = transport.ends().shape().bytes, .messages = burst.messages()};
  if (context.warmup > 0) (void)burst.run();
  const BusyWatch watch(context, transport.worker_counters());
  for (std::uint32_t i = 0; i < context.iterations && !context.stopping(); ++i) seen.ns.push_back(burst.run());
  seen.busy = watch.until(transport.worker_counters());
  return seen;
}

Streamed stream_gda(const Context& context, std::uint32_t bytes) {
  Streams streams(context, goodput_cargo(bytes, 1));
  return stream(context, streams);
}

Streamed stream_proxy(const Context& context, const Point& point, std::uint32_t bytes, bool reports) {
  auto shape = bulk_proxy(point);
  const auto cargo = goodput_cargo(bytes, shape.rings);
  shape.lanes = cargo.lanes;
  shape.depth = 4096;
  shape.send_depth = 512;
  shape.both = false;
  HostProxy<> proxy(context, {.cargo = cargo, .shape = shape, .crowd = {.lanes = 1, .workers = shape.workers}});
  if (reports && context.report_path) context.report_path(proxy.path(context));
  return stream(context, proxy);
}

void run(Context& context, const Point& point, measure::Record& record) {
  const bool is_gda = point.path == "mini-gda";
  std::vector<Streamed> sizes;
  for (const auto bytes : kGoodputBytes) {
    sizes.push_back(is_gda ? stream_gda(context, bytes) : stream_proxy(context, point, bytes, sizes.empty()));
    if (context.stopping()) return;
    add_goodput(context, sizes.back(), record);
  }
  const auto reference = stream_gda(context, kReferenceBytes);
  if (context.stopping()) return;
  add_first_size(context, sizes, add_reference(context, reference, record), record);
  record.verified = true;
}

}  // namespace

Experiment goodput() {
  return {.name = "goodput",
          .title = "Figure 8 and Table 12, goodput against payload",
          .question = "From which payload on does each transport fill the link?",
          .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; a core a worker",
          .variants = {{"mini-gda", std::string(Streams::Policy::name), {{"queues", std::int64_t{1}}}},
                       proxy_row(1, 8, 16),
                       proxy_row(4, 32, 16)},
          .iterations = 10,
          .run = run};
}

}  // namespace marrow::experiments
