// SPDX-License-Identifier: Apache-2.0
// See gpu_transports.h.
#include "experiments/common/load/gpu/gpu_transports.h"

#include <fmt/format.h>

namespace marrow::experiments {
namespace {

BundleOptions bundle_of(const GdaLoad& options) {
  return {.queues = options.bulk_queues + 1, .queue = patient({.sq_wqebbs = options.sq_wqebbs})};
}

void tell_gpu(const Context& context, measure::ActivePath& path) {
  path.lane = fmt::format("gpu: a thread a lane, each in a CTA of its own, on GPU {}", context.gpu->index());
  path.clock = context.gpu->describe_clocks();
  path.gpu = context.gpu->describe();
}

std::vector<gpu::Doorbell> map_doorbells(gpu::Device& device, const BundleEnd& end) {
  std::vector<gpu::Doorbell> doorbells;
  doorbells.reserve(end.queues.size());
  for (const auto& queue : end.queues) doorbells.emplace_back(device, queue.handle().doorbell);
  return doorbells;
}

}  // namespace

GpuGda::GpuGda(const Context& context, const GdaLoad& options)
    : bulk_queues_(options.bulk_queues),
      ends_(context, options.cargo, bundle_of(options), memory_for(context, {})),
      near_(map_doorbells(*context.gpu, ends_.end(End::kNear))),
      far_(map_doorbells(*context.gpu, ends_.end(End::kFar))) {}

measure::ActivePath GpuGda::path(const Context& context) const {
  auto path = active_path(context, ends_);
  path.doorbell = near_.front().describe();
  tell_gpu(context, path);
  return path;
}

gda::Qp GpuGda::on_lanes(End end, std::uint32_t queue) const {
  return on_gpu(ends_.end(end).queues[queue], (end == End::kNear ? near_ : far_)[queue]);
}

LaneOf<gda::Qp> GpuGda::lane(End end, std::uint32_t i) const {
  return {on_lanes(end, i % bulk_queues_), ends_.cargo(end, i)};
}

gda::Qp GpuGda::probe(End end, Probing probing) const {
  return on_lanes(end, probing == Probing::kShared ? 0 : bulk_queues_);
}

proxy::WorkersOptions gpu_workers(const Context& context, const ProxyShape& shape) {
  const unsigned workers = shape.both ? 2 * shape.workers : shape.workers;
  require_cores(workers);
  proxy::WorkersOptions options{.workers = shape.workers, .batch = shape.batch, .send_depth = shape.send_depth};
  suit_crowd(options, context, {.workers = workers});
  return options;
}

measure::ActivePath gpu_proxy_path(const Context& context, const LoadEnds& ends, const ProxyShape& shape,
                                   const proxy::WorkersReport& workers) {
  auto path = active_path(context, ends);
  path.doorbell = "libmlx5's own, rung by the workers";
  path.registration += fmt::format(
      ", queues by libmlx5; {} rings of {} descriptors an end in host memory that the GPU "
      "reaches, completions counted in host memory; {}",
      shape.rings + 1, shape.depth, workers.sentence());
  tell_gpu(context, path);
  return path;
}

}  // namespace marrow::experiments
