// SPDX-License-Identifier: Apache-2.0
// See gpu_bench.h.
#include "experiments/common/gpu/gpu_bench.h"

#include <fmt/format.h>

#include "gpu/memory.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

/// A lane that waits longer gives up with a status; the host's own limits are longer.
constexpr std::chrono::seconds kLaneTimeout{2};

verbs::MemorySource source(gpu::Device& device, gda::Mem mem) {
  return mem == gda::Mem::kHost ? gpu::pinned_source(device) : gpu::gpu_source(device);
}

/// Before the NIC refuses an address, in words that say which option to change.
void require_reach(const Context& context, const GpuBenchOptions& options) {
  const bool all_on_host = options.payload == gda::Mem::kHost && options.placement.sq == gda::Mem::kHost &&
                           options.placement.cq == gda::Mem::kHost && options.placement.dbrec == gda::Mem::kHost;
  if (context.engine != "cpu" || all_on_host) return;
  throw util::Error(
      fmt::format("queues or payload lie in memory of GPU {}, which the software NIC's CPU engine cannot reach",
                  context.gpu->index()),
      util::ErrorKind::kFailed, "--engine auto");
}

}  // namespace

BenchMemory memory_for(const Context& context, const GpuBenchOptions& options) {
  require_reach(context, options);
  auto& device = *context.gpu;
  const auto& placement = options.placement;
  return {.payload = source(device, options.payload),
          .queues = {.sq = source(device, placement.sq),
                     .cq = source(device, placement.cq),
                     .dbrec = source(device, placement.dbrec),
                     .counters = gpu::gpu_source(device)},
          .payload_bytes = options.payload_bytes};
}

verbs::DevxQpOptions patient(verbs::DevxQpOptions options) {
  options.timeout = kLaneTimeout;
  return options;
}

GpuBench::GpuBench(const Context& context, const GpuBenchOptions& options)
    : Bench(context, patient(options.queue), memory_for(context, options)),
      device_(context.gpu.get()),
      doorbell_a_(*context.gpu, a().queue.handle().doorbell, options.first_doorbell),
      doorbell_b_(*context.gpu, b().queue.handle().doorbell, options.first_doorbell) {}

gda::Qp on_gpu(const verbs::DevxQp& queue, const gpu::Doorbell& doorbell) {
  auto qp = queue.handle();
  qp.doorbell = doorbell.on_gpu();
  if (doorbell.kind() != gpu::DoorbellKind::kIoMemory) qp.doorbell_mapping = gda::DoorbellMapping::kOrdinaryMemory;
  return qp;
}

void report_path(const Context& context, const GpuBench& bench, unsigned lanes) {
  if (!context.report_path) return;
  auto path = active_path(context, bench.a().context, bench.b().context);
  path.doorbell = bench.doorbell().describe();
  path.registration = describe_registration(bench);
  path.lane = fmt::format("gpu: {} thread{}, each in a CTA of its own, on GPU {}", lanes, lanes == 1 ? "" : "s",
                          bench.device().index());
  path.clock = bench.device().describe_clocks();
  path.gpu = bench.device().describe();
  context.report_path(path);
}

}  // namespace marrow::experiments
