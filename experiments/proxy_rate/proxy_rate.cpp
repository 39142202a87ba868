// SPDX-License-Identifier: Apache-2.0
// Rows: T workers, 32 rings, B requests a post. One end sends: the paper's rate is that of an initiator. A row with B
// above 1 has B = 1 beside it in the same run.
#include "experiments/proxy_rate/proxy_rate.h"

#include "experiments/proxy_rate/host_rates.h"

namespace marrow::experiments {
namespace {

void run(Context& context, const Point& point, measure::Record& record) {
  const RateSetUp set_up{.workers = static_cast<std::uint32_t>(point.number("workers")),
                         .batch = static_cast<std::uint32_t>(point.number("batch"))};
  const auto mine = host_rates(context, set_up, true, record);
  ProxyRates single;
  if (set_up.batch > 1) single = host_rates(context, {set_up.workers, 1, set_up.messages}, false, record);
  record.counts.operations = mine.messages + single.messages;
  if (context.stopping() || mine.per_ns.empty()) return;
  add_proxy_rates(context, set_up, mine, single, "", record);
  record.verified = true;
}

}  // namespace

Experiment proxy_rate() {
  return {
      .name = "proxy-rate",
      .title = "Figure 7 and Table 10, rate of 8 B puts by CPU workers",
      .question = "How does a proxy's message rate grow with its workers and with the requests it chains?",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; a core a worker",
      .variants = {{"mini-proxy", std::string(proxy::Tuned::name), {{"rings", std::int64_t{kRateRings}}}}},
      .sweeps = {{.name = "workers", .meaning = "CPU threads that post", .values = {1, 2, 4, 8}, .min = 1, .max = 32},
                 {.name = "batch",
                  .meaning = "most requests in one ibv_post_send",
                  .values = {1, 16},
                  .min = 1,
                  .max = proxy::kMaxBatch}},
      .iterations = 20,
      .run = run};
}

}  // namespace marrow::experiments
