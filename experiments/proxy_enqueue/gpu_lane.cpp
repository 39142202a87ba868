// SPDX-License-Identifier: Apache-2.0
// The hand-off by a GPU thread to a ring in host memory. With CUDA only.
#include <fmt/format.h>

#include "experiments/proxy_enqueue/kernels.h"
#include "experiments/proxy_enqueue/rig.h"
#include "gpu/memory.h"

namespace marrow::experiments::enqueue {
namespace {

template <proxy::HandOffType H>
class GpuLane final : public Lane {
 public:
  explicit GpuLane(Context& context)
      : context_(context),
        producers_(*context.gpu, 1),
        stamps_(*context.gpu, kBlock),
        report_(*context.gpu, 1),
        rig_(context, gpu::pinned_memory(*context.gpu, Rig<H>::bytes()), producers_.data()) {}

  std::vector<Times> hand_over() override {
    const auto report = run(enqueue_kernels(H::name).timed);
    const double tick_ns = report.span.ns_per_tick();
    std::vector<Times> times;
    for (const auto& s : stamps_.read()) {
      times.push_back({static_cast<double>(s.handed_over - s.start) * tick_ns,
                       static_cast<double>(s.answered - s.start) * tick_ns});
    }
    return times;
  }
  proxy::Counts count() override { return run(enqueue_kernels(H::name).counted).counts; }
  void verify() const override { rig_.verify(); }

  measure::ActivePath path() const override {
    auto path = rig_.path();
    path.lane = "gpu: one thread, and a worker on the CPU";
    path.clock = context_.gpu->describe_clocks();
    path.gpu = context_.gpu->describe();
    return path;
  }

 private:
  Report run(const gpu::Kernel<EnqueueJob>& kernel) {
    const EnqueueJob job{rig_.ring(), {rig_.next_block(), kBlock, stamps_.data()}, report_.data()};
    gpu::run(*context_.gpu, kernel, {}, job, {.limit = context_.limit, .stop = context_.stop});
    const auto report = report_.read().front();
    rig_.require(report.outcome);
    return report;
  }

  Context& context_;
  gpu::Array<proxy::ProducerState> producers_;
  gpu::Array<Stamps> stamps_;
  gpu::Array<Report> report_;
  Rig<H> rig_;
};

}  // namespace

std::unique_ptr<Lane> gpu_lane(Context& context, const std::string& hand_off) {
  std::unique_ptr<Lane> lane;
  proxy::HandOffSteps::visit(hand_off, [&]<proxy::HandOffType H>() { lane = std::make_unique<GpuLane<H>>(context); });
  if (!lane) throw util::Error("no hand-off is called '" + hand_off + "'");
  return lane;
}

std::function<void(Context&, const Point&, measure::Record&)> on_gpu() {
  return [](Context& context, const Point& point, measure::Record& record) {
    measure_enqueue(gpu_lane, context, point, record);
  };
}

}  // namespace marrow::experiments::enqueue
