// SPDX-License-Identifier: Apache-2.0
// mini-proxy at one end: rings, queue pairs, and workers behind them. The last ring is the probe's own.
#pragma once

#include <memory>
#include <vector>

#include "experiments/common/load/crowd.h"
#include "experiments/common/load/ends.h"
#include "experiments/common/load/policies.h"
#include "proxy/workers.h"

namespace marrow::experiments {

struct ProxyShape {
  std::uint32_t workers = 1;
  std::uint32_t rings = 1;  // of bulk lanes
  std::uint32_t batch = 16;
  std::uint32_t depth = 16384;                         // of each ring
  std::uint32_t send_depth = 128;                      // of each worker's queue pair
  std::uint32_t lanes = 1;                             // bulk lanes of an end
  bool both = true;                                    // the far end sends too, and has workers
  proxy::Reserved reserved = proxy::Reserved::kFirst;  // of the probe's ring
};

template <proxy::HandOffType H>
class ProxyEnd {
 public:
  /// \param rings      zeroed memory for all rings, which lanes and workers reach under one address.
  /// \param producers  one for each ring, in the lanes' memory, zeroed.
  ProxyEnd(const BundleEnd& end, const ProxyShape& shape, proxy::WorkersOptions options,
           std::unique_ptr<verbs::Memory> rings, proxy::ProducerState* producers)
      : shape_(shape),
        options_(std::move(options)),
        memory_(std::move(rings)),
        routes_({end.context, end.pd}, options_) {
    const auto each = proxy::ring_bytes<H>(shape.depth);
    for (std::uint32_t i = 0; i <= shape.rings; ++i) {
      auto ring = proxy::lay_out_ring<H>(memory_->data() + i * each, shape.depth, producers + i);
      const bool probe = i == shape.rings;
      const bool own = probe || H::reserve == proxy::Reserve::kOwnRing;
      const auto sharers = (shape.lanes + shape.rings - 1) / shape.rings + 1;  // and a probe
      rings_.push_back(
          {.ring = ring, .reserved = probe ? shape.reserved : proxy::Reserved::kNo, .producers = own ? 1 : sharers});
    }
  }

  [[nodiscard]] static std::size_t bytes(const ProxyShape& shape) {
    return (shape.rings + 1) * proxy::ring_bytes<H>(shape.depth);
  }
  [[nodiscard]] proxy::Routes& routes() { return routes_; }
  [[nodiscard]] const proxy::Ring& ring(std::uint32_t i) const { return rings_[i].ring; }
  [[nodiscard]] const proxy::Ring& own_ring() const { return rings_.back().ring; }
  [[nodiscard]] std::vector<proxy::Ring> rings() const {
    std::vector<proxy::Ring> all;
    for (const auto& ring : rings_) all.push_back(ring.ring);
    return all;
  }

  /// \param cores  where to pin the workers; empty: the workers' own choice.
  void start(const BundleEnd& here, const BundleEnd& there, std::vector<unsigned> cores) {
    options_.cores = std::move(cores);
    routes_.add({.from = here.mr.local(),
                 .from_bytes = here.memory->bytes(),
                 .to = there.mr.remote(),
                 .to_bytes = there.memory->bytes()});
    workers_ = std::make_unique<proxy::Workers<H>>(options_, routes_.table(), rings_);
    workers_->start();
  }
  void stop() { workers_->stop(); }
  [[nodiscard]] proxy::WorkerCounters counters() const {
    return workers_ ? workers_->total() : proxy::WorkerCounters{};
  }
  [[nodiscard]] proxy::WorkersReport report() const { return workers_->report(); }

 private:
  ProxyShape shape_;
  proxy::WorkersOptions options_;
  std::unique_ptr<verbs::Memory> memory_;
  std::vector<proxy::WorkerRing> rings_;
  proxy::Routes routes_;
  std::unique_ptr<proxy::Workers<H>> workers_;  // last: they use everything above
};

/// Both ends, connected, with their workers running.
template <proxy::HandOffType H>
class ProxyPair {
 public:
  /// \param ring_memory  host memory that lanes reach.
  ProxyPair(const LoadEnds& ends, const ProxyShape& shape, const proxy::WorkersOptions& options,
            const verbs::MemorySource& ring_memory, proxy::ProducerState* producers)
      : near_(ends.end(End::kNear), shape, options, verbs::take(ring_memory, ProxyEnd<H>::bytes(shape)), producers),
        far_(ends.end(End::kFar), shape, options, verbs::take(ring_memory, ProxyEnd<H>::bytes(shape)),
             producers + shape.rings + 1) {
    proxy::connect(near_.routes(), far_.routes());
    const auto& near = ends.end(End::kNear);
    const auto& far = ends.end(End::kFar);
    near_.start(near, far, {});
    if (!shape.both) return;
    std::vector<unsigned> taken;
    for (const auto& worker : near_.report().workers) taken.push_back(worker.place.core);
    auto rest = options.pin ? free_cores(taken) : std::vector<unsigned>{};
    if (rest.size() > shape.workers) rest.resize(shape.workers);
    far_.start(far, near, rest.size() == shape.workers ? rest : std::vector<unsigned>{});
  }

  [[nodiscard]] ProxyEnd<H>& end(End end) { return end == End::kNear ? near_ : far_; }
  [[nodiscard]] static std::size_t producers(const ProxyShape& shape) { return 2 * (shape.rings + 1); }
  [[nodiscard]] proxy::WorkerCounters counters() const {
    auto both = near_.counters();
    both += far_.counters();
    return both;
  }

 private:
  ProxyEnd<H> near_;
  ProxyEnd<H> far_;
};

}  // namespace marrow::experiments
