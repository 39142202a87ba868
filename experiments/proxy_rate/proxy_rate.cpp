// SPDX-License-Identifier: Apache-2.0
// Rows: T workers, 32 rings, B requests a post. One end sends: the paper's rate is that of an initiator. A row with B
// above 1 has B = 1 beside it in the same run.
#include "experiments/proxy_rate/proxy_rate.h"

#include "experiments/common/load/host_lanes.h"
#include "experiments/gpu_rate/rate_verdict.h"
#include "experiments/proxy_rate/rates.h"
#include "gpu/device.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/common/load/gpu/gpu_lanes.h"
#endif

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kTurns = 8;  // of the two batches, so that a drift of the machine falls on both

/// \tparam Lanes  HostLanes or GpuLanes.
template <class Lanes>
void run_proxy_rate(Context& context, const Point& point, measure::Record& record) {
  const RateSetUp set_up{.workers = static_cast<std::uint32_t>(point.number("workers")),
                         .batch = static_cast<std::uint32_t>(point.number("batch")),
                         .messages = Lanes::kRateMessages};
  const ExecutedWqes executed(context);
  ProxyRates mine;
  ProxyRates single;
  const auto turns = set_up.batch > 1 ? std::min(kTurns, context.iterations) : 1;
  for (std::uint32_t turn = 0; turn < turns && !context.stopping(); ++turn) {
    Context part = context;
    part.iterations = context.iterations / turns + (turn < context.iterations % turns ? 1 : 0);
    add_repetitions<Lanes>(part, set_up, turn == 0, mine);
    if (set_up.batch > 1) add_repetitions<Lanes>(part, {set_up.workers, 1, set_up.messages}, false, single);
  }
  record.counts.operations = mine.messages + single.messages;
  executed.expect(record.counts.operations, record);
  if (context.stopping() || mine.per_ns.empty()) return;
  add_proxy_rates(context, set_up, mine, single, context.gpu ? context.gpu->facts().name : std::string(), record);
  record.verified = true;
}

}  // namespace

Experiment proxy_rate() {
  return {
      .name = "proxy-rate",
      .title = "Figure 7 and Table 10, rate of 8 B puts by CPU workers",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; a core a worker",
      .variants = {{"mini-proxy", std::string(proxy::Tuned::name), {{"rings", std::int64_t{kRateRings}}}}},
      .sweeps = {{.name = "workers", .meaning = "CPU threads that post", .values = {1, 2, 4, 8}, .min = 1, .max = 32},
                 {.name = "batch",
                  .meaning = "most requests in one ibv_post_send",
                  .values = {1, 16},
                  .min = 1,
                  .max = proxy::kMaxBatch}},
      .iterations = 80,
      .run = run_proxy_rate<HostLanes>,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = run_proxy_rate<GpuLanes>,
#endif
  };
}

}  // namespace marrow::experiments
