// SPDX-License-Identifier: Apache-2.0
// See rate_set_up.h.
#include "experiments/proxy_rate/rate_set_up.h"

#include <fmt/format.h>

#include <array>

#include "experiments/gpu_rate/rate_verdict.h"

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kFullChain = 16;
constexpr double kGainOfAChain = 3;  // over one request a post, with one worker
constexpr double kOneWorker = 2.6;   // M msg/s: the paper's Table 10, cold
constexpr double kOneWorkerChained = 14.4;

/// All messages over all time: repetitions that met a busy core weigh as they lasted.
double overall(const ProxyRates& rates) {
  double ns = 0;  // of one message in each repetition
  for (const auto per_ns : rates.per_ns) ns += 1 / per_ns;
  return static_cast<double>(rates.per_ns.size()) / ns;
}

/// Of rounds that did something: whatever the NIC holds up is not in it.
double ticks_a_request(const Busy& busy) {
  return busy.requests == 0 ? 0 : static_cast<double>(busy.busy_ticks) / static_cast<double>(busy.requests);
}

}  // namespace

void add_proxy_rates(const Context& context, const RateSetUp& set_up, const ProxyRates& mine, const ProxyRates& single,
                     const std::string& gpu, measure::Record& record) {
  const auto rate = add_rates(record, "message rate", context.nic_kind, mine.per_ns);
  tell_limit(context, fmt::format("batch {}", set_up.batch), mine.busy, record);
  if (!single.per_ns.empty()) {
    (void)add_rates(record, "rate of batch 1 beside it", context.nic_kind, single.per_ns);
    const double gain = overall(mine) / overall(single);
    record.metrics.push_back(
        {"rate / rate of batch 1", "x", context.nic_kind, measure::summarise(std::array{gain}), {}});
    tell_limit(context, "batch 1", single.busy, record);
    const double own = ticks_a_request(mine.busy);
    const double alone = ticks_a_request(single.busy);
    if (own > 0 && alone > 0) {
      record.metrics.push_back({"a worker's time for a request, batch 1 / this",
                                "x",
                                context.nic_kind,
                                measure::summarise(std::array{alone / own}),
                                {}});
    }
    expect_of_transport(mine.busy, fmt::format("chaining raises the rate: {:.2f} times", gain), gain > 1, record);
    if (set_up.batch >= kFullChain && set_up.workers == 1) {
      expect_of_transport(mine.busy, fmt::format("by {} or more: {:.2f}", kGainOfAChain, gain), gain >= kGainOfAChain,
                          record);
    }
  }
  if (gpu.find("H200") == std::string::npos || set_up.workers != 1) return;
  const double least = set_up.batch >= kFullChain ? kOneWorkerChained : kOneWorker;
  expect_of_transport(mine.busy, fmt::format("one worker carries {:.2f} M msg/s, at least {} on an H200", rate, least),
                      rate >= least, record);
}

}  // namespace marrow::experiments
