// SPDX-License-Identifier: Apache-2.0
// The host's part of ordering-litmus on a GPU. Payload lies where the queues lie, so that an engine that reaches one
// reaches the other.
#include "experiments/ordering_litmus/ordering_litmus_gpu.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "experiments/common/gpu/gpu_bench.h"
#include "experiments/common/host_rung.h"
#include "experiments/ordering_litmus/litmus.h"
#include "experiments/ordering_litmus/litmus_kernels.h"
#include "gpu/memory.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

constexpr unsigned kCoresForALookout = 4;  // beside the NIC's thread and the one that waits for the kernel

class GpuLane {
 public:
  GpuLane(const Context& context, const LitmusRow& row)
      : context_(context), row_(row), stop_(*context.gpu), crowd_ends_(*context.gpu, 1) {
    if (row.crowded) crowd_ = gpu::pinned_memory(*context.gpu, kCrowdBlocks * kCrowdBytes);
  }

  LitmusPass operator()(std::string_view ordering, LitmusJob job) {
    auto& device = *context_.gpu;
    const auto kernel = kernel_of(ordering);
    if (kernel.entry == nullptr) throw util::Error(fmt::format("no ordering is called '{}'", ordering));
    const gpu::Array<LitmusReport> report(device, 1);
    const gpu::Array<std::uint64_t> issue(device, job.puts / job.batch);
    job.stop = stop_.word();
    gpu::Grid grid;
    if (row_.crowded) {
      crowd_ends_.write(std::array{0U});
      job.crowd = crowd_->data();
      job.crowd_ends = crowd_ends_.data();
      grid = {.blocks = 1 + kCrowdBlocks, .threads = kCrowdThreads};
    }
    job.issue = job.awaits ? issue.data() : nullptr;
    gpu::run(device, kernel, grid, LitmusLaunch{job, report.data()},
             {.limit = context_.limit, .stop = context_.stop, .word = &stop_});
    LitmusPass pass{.report = report.read().front()};
    if (!job.awaits) return pass;
    const auto ns_per_tick = pass.report.span.ns_per_tick();
    for (const auto ticks : issue.read(pass.report.puts / job.batch)) {
      pass.issue_ns.push_back(static_cast<double>(ticks) * ns_per_tick);
    }
    return pass;
  }

 private:
  [[nodiscard]] gpu::Kernel<LitmusLaunch> kernel_of(std::string_view ordering) const {
    if (row_.pointer) return litmus_pointer_kernel(ordering);
    return row_.by_word ? litmus_word_kernel(ordering) : litmus_inline_kernel(ordering);
  }

  const Context& context_;
  const LitmusRow& row_;
  gpu::StopWord stop_;
  gpu::Array<std::uint32_t> crowd_ends_;
  std::unique_ptr<verbs::Memory> crowd_;
};

}  // namespace

void ordering_litmus_on_gpu(Context& context, const Point& point, measure::Record& record) {
  const auto row = litmus_row(point);
  if (context.engine == "cpu" && !row.queues_on_host) {
    throw util::Error("the software NIC's CPU engine does not reach queues in GPU memory", util::ErrorKind::kWaived,
                      "--engine auto");
  }
  const auto place = row.queues_on_host ? gda::Mem::kHost : gda::Mem::kLane;
  auto placement = gda::all_in(place);
  if (row.by_word) placement.dbrec = gda::Mem::kHost;  // the host stores it
  const GpuBench bench(context, {.placement = placement, .payload = place, .payload_bytes = litmus_payload_bytes(row)});
  std::optional<HostRung> rung;
  if (row.by_word) {
    report_host_rung_path(context, bench, /*lanes=*/1);
    rung.emplace(context, std::vector{bench.a().queue.handle()}, gpu::pinned_source(bench.device()));
  } else {
    report_path(context, bench, /*lanes=*/1);
  }
  GpuLane lane(context, row);
  measure_litmus(context, row,
                 {.bench = bench,
                  .qp = rung ? rung->forwarded(bench.qp_a()) : bench.qp_a(),
                  .lookout = row.queues_on_host && usable_cores() >= kCoresForALookout,
                  .lane = [&](std::string_view ordering, const LitmusJob& job) { return lane(ordering, job); },
                  .issue_kind = measure::Kind::kGpu,
                  .puts = context.iterations},
                 record);
  if (rung) rung->finish(record);
}

}  // namespace marrow::experiments
