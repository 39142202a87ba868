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

constexpr std::uint32_t kWqebbs = 64;              // more than a launch's messages of a block
constexpr std::uint64_t kTimeoutNs = 300'000'000;  // of each of its waits, and a block may wait 16 times

constexpr std::size_t kPiecesOfAQueue = 4;  // its SQ, CQ, record and counters

verbs::DevxQpOptions options_from(const verbs::MemorySource& source) {
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

/// The queues of all blocks. Their set-up takes seconds, so the rows of a process share them, and they end with it.
struct Queues {
  Queues(const Context& context, gpu::Device& device, unsigned count)
      : near(context.devices.at(0), gpu::gpu_memory(device, kCellBytes)),
        far(context.devices.at(1), gpu::gpu_memory(device, std::size_t{kCellBytes} * count)),
        handles(device, count) {
    const auto options = options_from(gpu::gpu_pool(device, count * kPiecesOfAQueue * verbs::Memory::kAlign));
    near.queues.reserve(count);
    far.queues.reserve(count);
    doorbells.reserve(count);
    std::vector<gda::Qp> qps;
    for (unsigned block = 0; block < count; ++block) {
      auto& queue = near.queues.emplace_back(near.context, near.pd, options);
      connect(queue, far.queues.emplace_back(far.context, far.pd, verbs::DevxQpOptions{.sq_wqebbs = kWqebbs}));
      auto handle = queue.handle();
      doorbells.emplace_back(device, handle.doorbell);
      handle.doorbell = doorbells.back().on_gpu();
      handle.timeout_ns = kTimeoutNs;
      qps.push_back(handle);
    }
    handles.write(qps);
  }

  End near;
  End far;
  std::vector<gpu::Doorbell> doorbells;
  gpu::Array<gda::Qp> handles;
  bool settled = true;  // nothing is under way, and nothing failed
};

/// At least `count` of them.
Queues& queues_of(const Context& context, gpu::Device& device, unsigned count) {
  static Queues* shared = nullptr;
  const bool good = shared != nullptr && shared->settled && shared->near.queues.size() >= count;
  if (!good) shared = new Queues(context, device, count);
  return *shared;
}

class GdaTraffic final : public Traffic {
 public:
  GdaTraffic(Context& context, const CallerBench& bench)
      : bench_(bench), queues_(queues_of(context, bench.device(), blocks())) {}

  void join(Job& job) const override {
    job.qps = queues_.handles.data();
    job.to = queues_.far.mr.remote();
  }
  void expect(const Job& job) override { queues_.settled = job.sending_rounds == 0; }

  /// Completes everything with a kernel of its own, then looks at what each block's cell holds.
  void settle(const Job& job) override {
    if (job.sending_rounds == 0) return;
    gpu::run(bench_.device(), drain_kernel(), {.blocks = blocks(), .threads = 1}, job, bench_.patience());
    if (const auto failure = bench_.failure(); !failure.empty()) throw util::Error("drain: " + failure);
    std::vector<std::uint64_t> cells(blocks());
    queues_.far.memory->read(0, std::as_writable_bytes(std::span(cells)));
    const std::uint64_t last = job.first_message + static_cast<unsigned>(std::bit_width(job.sending_rounds)) - 1;
    for (unsigned block = 0; block < blocks(); ++block) {
      if (cells[block] == last) continue;
      throw util::Error(fmt::format("block {}: message {} arrived last, {} was sent last", block, cells[block], last));
    }
    queues_.settled = true;
  }

  [[nodiscard]] measure::ActivePath path() const override {
    measure::ActivePath path;
    path.nic = fmt::format("{} -> {}", queues_.near.context.name(), queues_.far.context.name());
    path.link_layer = queues_.near.context.port().link == verbs::LinkLayer::kInfiniBand ? "InfiniBand" : "RoCE v2";
    path.doorbell = queues_.doorbells.front().describe();
    path.registration =
        fmt::format("{} queues: {}; payload {}", blocks(), queues_.near.queues.front().describe_memory(),
                    name_of(queues_.far.mr.registration()));
    return path;
  }

 private:
  [[nodiscard]] unsigned blocks() const { return bench_.shape().blocks; }

  const CallerBench& bench_;
  Queues& queues_;
};

}  // namespace

std::unique_ptr<Traffic> gda_traffic(Context& context, const CallerBench& bench) {
  return std::make_unique<GdaTraffic>(context, bench);
}

}  // namespace marrow::experiments::enclosing
