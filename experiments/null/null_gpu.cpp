// SPDX-License-Identifier: Apache-2.0
// The host's part of null on a GPU. The payload lies in the GPU's memory, is stamped, and compared in place.
#include "experiments/null/null_gpu.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/null/null_kernels.h"
#include "experiments/null/windows.h"
#include "gpu/memory.h"

namespace marrow::experiments {
namespace {

struct Ticks {
  std::vector<PutStamps> stamps;
  double ns_per_tick = 0;
};

Ticks ticks_of(const Context& context, const gpu::Kernel<PutJob>& kernel, PutJob job) {
  const gpu::Array<PutStamps> stamps(*context.gpu, context.iterations);
  job.warmup = context.warmup;
  job.operations = context.iterations;
  job.stamps = stamps.data();
  const auto report = GpuRunner(context).run(kernel, job);
  const auto done = report.operations - std::min(report.operations, job.warmup);
  return {stamps.read(done), report.span.ns_per_tick()};
}

void report_path(const Context& context) {
  if (!context.report_path) return;
  measure::ActivePath path{
      .nic = "none, nothing is sent", .link_layer = "none", .doorbell = "none", .registration = "none"};
  path.lane = fmt::format("gpu: 1 thread of 1 CTA on GPU {}", context.gpu->index());
  path.clock = context.gpu->describe_clocks();
  path.gpu = context.gpu->describe();
  context.report_path(path);
}

}  // namespace

void null_on_gpu(Context& context, const Point&, measure::Record& record) {
  report_path(context);
  const auto memory = gpu::gpu_memory(*context.gpu, verbs::Memory::kAlign);
  const auto address = reinterpret_cast<std::uint64_t>(memory->data());
  const PutJob job{.route = {.from = {address, 0}, .to = {address, 0}, .bytes = 8}, .far = memory->data()};
  const auto window = ticks_of(context, null_puts(), job);
  const auto bare = ticks_of(context, bare_readings(), job);
  std::vector<NullStamps> stamps;
  for (std::size_t i = 0; i < std::min(window.stamps.size(), bare.stamps.size()); ++i)
    stamps.push_back({window.stamps[i], bare.stamps[i]});
  record.counts.operations = stamps.size();
  add_windows(record, measure::Kind::kGpu, stamps, window.ns_per_tick);
  record.verified = true;
}

}  // namespace marrow::experiments
