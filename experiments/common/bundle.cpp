// SPDX-License-Identifier: Apache-2.0
// See bundle.h. Facts: an uncached register is shared by a context's queues where the library is older than rdma-core
// 45, a write-combining one never is [dv: mlx5dv_devx_alloc_uar].
#include "experiments/common/bundle.h"

#include <fmt/format.h>

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kFarWqebbs = 64;

int access_of(FarOrder order) {
  return verbs::Mr::kAllRights | (order == FarOrder::kRelaxed ? IBV_ACCESS_RELAXED_ORDERING : 0);
}

verbs::DevxQpOptions with_own_register(verbs::DevxQpOptions options, const BenchMemory& memory) {
  options.memory = memory.queues;
  options.uar = verbs::UarChoice::kBlueFlame;
  return options;
}

}  // namespace

BundleEnd::BundleEnd(const std::string& device, const BundleOptions& options, const BenchMemory& source)
    : context(device),
      pd(context),
      memory(verbs::take(source.payload, options.buffer_bytes)),
      mr(pd, *memory, access_of(options.far)) {
  const auto of_queue = with_own_register(options.queue, source);
  queues.reserve(options.queues);
  for (std::uint32_t i = 0; i < options.queues; ++i) queues.emplace_back(context, pd, of_queue);
}

Bundle::Bundle(const Context& context, const BundleOptions& options, const BenchMemory& memory)
    : far_(options.far), a_(std::make_unique<BundleEnd>(context.devices.at(0), options, memory)) {
  auto far = options;
  far.queue.sq_wqebbs = kFarWqebbs;
  b_ = std::make_unique<BundleEnd>(context.devices.at(1), far, memory);
  for (std::uint32_t i = 0; i < options.queues; ++i) verbs::connect(a_->queues[i], b_->queues[i]);
}

measure::ActivePath active_path(const Context& context, const Bundle& bundle) {
  auto path = active_path(context, bundle.a().context, bundle.b().context);
  const auto& far = bundle.b();
  path.registration = fmt::format(
      "payload in {} by {} (ibv_reg_mr{}), {} (DEVX umem); {} queue{}", far.memory->kind(),
      verbs::name_of(far.mr.registration()),
      bundle.far() == FarOrder::kRelaxed ? ", relaxed ordering: writes may pass each other" : "",
      bundle.a().queues.front().describe_memory(), bundle.a().queues.size(), bundle.a().queues.size() == 1 ? "" : "s");
  return path;
}

void report_path(const Context& context, const Bundle& bundle) {
  if (!context.report_path) return;
  auto path = active_path(context, bundle);
  path.doorbell = "a UAR register for each queue, write-combining mapping";
  path.lane = fmt::format("host: 1 CPU thread on {} cores", usable_cores());
  context.report_path(path);
}

}  // namespace marrow::experiments
