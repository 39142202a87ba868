// SPDX-License-Identifier: Apache-2.0
// A connected pair of queues for each block, all in GPU memory, between the two devices of the context.
#include <fmt/format.h>

#include <bit>
#include <vector>

#include "experiments/enclosing_kernel/drain.h"
#include "experiments/enclosing_kernel/traffic.h"
#include "gpu/doorbell.h"
#include "util/error.h"
#include "verbs/context.h"
#include "verbs/devx_qp.h"

namespace marrow::experiments::enclosing {
namespace {

constexpr std::uint32_t kWqebbs = 64;  // more than a launch's messages of a block

verbs::DevxQpOptions options_on(gpu::Device& device) {
  const auto source = gpu::gpu_source(device);
  return {.sq_wqebbs = kWqebbs, .memory = {.sq = source, .cq = source, .dbrec = source, .counters = source}};
}

struct End {
  End(const std::string& device, std::unique_ptr<verbs::Memory> payload)
      : context(device), pd(context), memory(std::move(payload)), mr(pd, *memory) {}
  verbs::Context context;
  verbs::Pd pd;
  std::unique_ptr<verbs::Memory> memory;
  verbs::Mr mr;
  std::vector<verbs::DevxQp> queues;
};

class GdaTraffic final : public Traffic {
 public:
  GdaTraffic(Context& context, const CallerBench& bench)
      : bench_(bench),
        near_(context.devices.at(0), gpu::gpu_memory(bench.device(), kCellBytes)),
        far_(context.devices.at(1), gpu::gpu_memory(bench.device(), std::size_t{kCellBytes} * blocks())),
        handles_(bench.device(), blocks()) {
    const auto options = options_on(bench.device());
    std::vector<gda::Qp> handles;
    near_.queues.reserve(blocks());
    far_.queues.reserve(blocks());
    doorbells_.reserve(blocks());
    for (unsigned block = 0; block < blocks(); ++block) {
      auto& queue = near_.queues.emplace_back(near_.context, near_.pd, options);
      auto& peer = far_.queues.emplace_back(far_.context, far_.pd, options);
      connect(queue, peer);
      auto handle = queue.handle();
      doorbells_.emplace_back(bench.device(), handle.doorbell);
      handle.doorbell = doorbells_.back().on_gpu();
      handles.push_back(handle);
    }
    handles_.write(handles);
  }

  void join(Job& job) const override {
    job.qps = handles_.data();
    job.to = far_.mr.remote();
  }
  void expect(const Job&) override {}

  /// Completes everything with a kernel of its own, then looks at what each block's cell holds.
  void settle(const Job& job) override {
    if (job.sending_rounds == 0) return;
    gpu::run(bench_.device(), drain_kernel(), {.blocks = blocks(), .threads = 1}, job, bench_.patience());
    if (const auto failure = bench_.failure(); !failure.empty()) throw util::Error("drain: " + failure);
    std::vector<std::uint64_t> cells(blocks());
    far_.memory->read(0, std::as_writable_bytes(std::span(cells)));
    const std::uint64_t last = job.first_message + static_cast<unsigned>(std::bit_width(job.sending_rounds)) - 1;
    for (unsigned block = 0; block < blocks(); ++block) {
      if (cells[block] == last) continue;
      throw util::Error(fmt::format("block {}: message {} arrived last, {} was sent last", block, cells[block], last));
    }
  }

  [[nodiscard]] measure::ActivePath path() const override {
    measure::ActivePath path;
    path.nic = fmt::format("{} -> {}", near_.context.name(), far_.context.name());
    path.link_layer = near_.context.port().link == verbs::LinkLayer::kInfiniBand ? "InfiniBand" : "RoCE v2";
    path.doorbell = doorbells_.front().describe();
    path.registration = fmt::format("{} queues: {}; payload {}", blocks(), near_.queues.front().describe_memory(),
                                    name_of(far_.mr.registration()));
    return path;
  }

 private:
  [[nodiscard]] unsigned blocks() const { return bench_.shape().blocks; }

  const CallerBench& bench_;
  End near_;
  End far_;
  std::vector<gpu::Doorbell> doorbells_;
  gpu::Array<gda::Qp> handles_;
};

}  // namespace

std::unique_ptr<Traffic> gda_traffic(Context& context, const CallerBench& bench) {
  return std::make_unique<GdaTraffic>(context, bench);
}

}  // namespace marrow::experiments::enclosing
