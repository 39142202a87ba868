// SPDX-License-Identifier: Apache-2.0
// One lane, one ring, one worker at each end. The tuned row has mini-gda and the baseline beside it in the same run,
// through the same NIC.
#include "experiments/proxy_idle_rtt/proxy_idle_rtt.h"

#include "experiments/proxy_idle_rtt/host_times.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/proxy_idle_rtt/proxy_idle_rtt_gpu.h"
#endif

namespace marrow::experiments {
namespace {

SingleTimes times_of_gda(const Context& context) {
  HostGda gda(context, {.cargo = {.lanes = 1, .places = 1}, .sq_wqebbs = 128});
  const auto cargo = gda.ends().cargo(End::kNear, 0);
  SingleTimes times;
  {
    GdaPoster<gda::GpuFence> poster(gda.ends().end(End::kNear).queues[0].handle(), {cargo.from, cargo.to, cargo.bytes});
    const auto puts = single_puts(context, poster, cargo);
    times.completion_ns.assign(puts.completion.values().begin(), puts.completion.values().end());
  }
  times.trip_ns = host_idle_trips(context, gda);
  return times;
}

void run_proxy_idle_rtt(Context& context, const Point& point, measure::Record& record) {
  if (point.policy == proxy::Baseline::name) {
    add_single_times(context, host_single_times<proxy::Baseline>(context, true), record);
  } else {
    add_single_times(context, host_single_times<proxy::Tuned>(context, true), record);
    add_beside(context, {host_single_times<proxy::Baseline>(context, false), times_of_gda(context)}, record);
  }
  record.verified = true;
}

}  // namespace

Experiment proxy_idle_rtt() {
  return {
      .name = "proxy-idle-rtt",
      .title = "Table 3 and section 4.2, one message through a CPU worker",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; gpu lanes: a GPU of sm_90 or newer",
      .variants = {{"mini-proxy", std::string(proxy::Baseline::name), {{"workers", std::int64_t{1}}}},
                   {"mini-proxy", std::string(proxy::Tuned::name), {{"workers", std::int64_t{1}}}}},
      .iterations = 500,
      .run = run_proxy_idle_rtt,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = proxy_idle_rtt_on_gpu,
#endif
  };
}

}  // namespace marrow::experiments
