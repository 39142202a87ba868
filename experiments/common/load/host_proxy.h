// SPDX-License-Identifier: Apache-2.0
// mini-proxy as a transport of host lanes: the same rings and workers, with CPU threads as producers.
#pragma once

#include <fmt/format.h>

#include "experiments/common/load/host_gda.h"
#include "experiments/common/load/posters.h"
#include "experiments/common/load/proxy_end.h"

namespace marrow::experiments {

template <proxy::HandOffType H = LoadHandOff>
class HostProxy {
 public:
  using Poster = ProxyPoster<H>;
  using Way = ProxyWay<H>;

  HostProxy(const Context& context, const ProxyLoad& options)
      : options_(options),
        ends_(context, options.cargo, {.queues = 0}, memory_of_host_lanes(context)),
        producers_(ProxyPair<H>::producers(options.shape)),
        pair_(ends_, options.shape, workers_options(context, options), {}, producers_.data()) {}

  [[nodiscard]] const LoadEnds& ends() const { return ends_; }
  [[nodiscard]] const ProxyShape& shape() const { return options_.shape; }
  [[nodiscard]] Crowd crowd() const { return options_.crowd; }
  [[nodiscard]] proxy::WorkerCounters worker_counters() const { return pair_.counters(); }
  [[nodiscard]] ProxyEnd<H>& end(End end) { return pair_.end(end); }

  [[nodiscard]] Way way(End end, std::uint32_t lane, const Cargo& cargo) {
    return Way(pair_.end(end).ring(lane % options_.shape.rings), cargo);
  }
  [[nodiscard]] Poster poster(End end, Probing probe) {
    auto& proxy = pair_.end(end);
    const auto& ring = probe == Probing::kShared ? proxy.ring(0) : proxy.own_ring();
    return Poster(ring, {.from = kProbeOutgoingAt, .to = kProbeIncomingAt, .bytes = 8});
  }
  /// For a lane that sends its cargo's first place, one message at a time, by the near end's own ring.
  template <class P = Poster>
  [[nodiscard]] P single_poster(const Cargo& cargo) {
    return P(pair_.end(End::kNear).own_ring(), {.from = cargo.from_at, .to = cargo.to_at, .bytes = cargo.bytes});
  }

  [[nodiscard]] measure::ActivePath path(const Context& context) {
    auto path = active_path(context, ends_);
    path.doorbell = "libmlx5's own, rung by the workers";
    path.registration +=
        fmt::format(", queues by libmlx5; {} rings of {} descriptors an end in host memory; {}",
                    options_.shape.rings + 1, options_.shape.depth, pair_.end(End::kNear).report().sentence());
    path.lane = "host: " + crowd_text(context, options_.crowd);
    return path;
  }

 private:
  static proxy::WorkersOptions workers_options(const Context& context, const ProxyLoad& options) {
    require_cores(options.shape.workers);
    proxy::WorkersOptions workers{
        .workers = options.shape.workers, .batch = options.shape.batch, .send_depth = options.shape.send_depth};
    suit_crowd(workers, context, options.crowd);
    return workers;
  }

  ProxyLoad options_;
  LoadEnds ends_;
  std::vector<proxy::ProducerState> producers_;
  ProxyPair<H> pair_;
};

}  // namespace marrow::experiments
