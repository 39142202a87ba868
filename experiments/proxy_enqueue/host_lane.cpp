// SPDX-License-Identifier: Apache-2.0
// The hand-off by a CPU thread: the same code, a CPU's costs. Behaviour and counts are exact.
#include <fmt/format.h>

#include "experiments/proxy_enqueue/rig.h"

namespace marrow::experiments::enqueue {
namespace {

template <proxy::HandOffType H>
class HostLane final : public Lane {
 public:
  explicit HostLane(Context& context)
      : context_(context), rig_(context, std::make_unique<verbs::HostBuffer>(Rig<H>::bytes()), &producers_) {}

  std::vector<Times> hand_over() override {
    Stamps stamps[kBlock];
    proxy::Producer<H> producer(rig_.ring());
    const Block block{rig_.next_block(), kBlock, stamps};
    rig_.require(enqueue::hand_over(producer, block, [&] { return context_.clock->ticks(); }));
    std::vector<Times> times;
    for (const auto& s : stamps) {
      times.push_back({context_.clock->ns(s.handed_over - s.start), context_.clock->ns(s.answered - s.start)});
    }
    return times;
  }

  proxy::Counts count() override {
    Stamps stamps[kBlock];
    proxy::Producer<H, proxy::CountingProbe> producer(rig_.ring());
    rig_.require(enqueue::hand_over(producer, {rig_.next_block(), kBlock, stamps}, [] { return std::uint64_t{0}; }));
    return producer.probe().counts;
  }

  void verify() const override { rig_.verify(); }

  measure::ActivePath path() const override {
    auto path = rig_.path();
    const bool crowded = is_crowded(context_, 2);
    path.lane = fmt::format("host: a lane and a worker on {} core{}{}", usable_cores(), usable_cores() == 1 ? "" : "s",
                            crowded ? ", which share one" : "");
    path.clock = context_.clock->name();
    return path;
  }

 private:
  Context& context_;
  proxy::ProducerState producers_;
  Rig<H> rig_;
};

}  // namespace

std::unique_ptr<Lane> host_lane(Context& context, const std::string& hand_off) {
  std::unique_ptr<Lane> lane;
  proxy::HandOffSteps::visit(hand_off, [&]<proxy::HandOffType H>() { lane = std::make_unique<HostLane<H>>(context); });
  if (!lane) throw util::Error("no hand-off is called '" + hand_off + "'");
  return lane;
}

}  // namespace marrow::experiments::enqueue
