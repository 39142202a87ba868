// SPDX-License-Identifier: Apache-2.0
// See ends.h.
#include "experiments/common/load/ends.h"

#include <fmt/format.h>

namespace marrow::experiments {
namespace {

constexpr std::size_t kCargoAt = 4096;

}  // namespace

LoadEnds::LoadEnds(const Context& context, const CargoShape& cargo, BundleOptions options, const BenchMemory& memory)
    : cargo_(cargo) {
  options.buffer_bytes = kCargoAt + 2 * cargo.all_bytes();
  options.far = FarOrder::kRelaxed;  // no two writes under way have one target
  near_ = std::make_unique<BundleEnd>(context.devices.at(0), options, memory);
  far_ = std::make_unique<BundleEnd>(context.devices.at(1), options, memory);
  for (std::uint32_t i = 0; i < options.queues; ++i) verbs::connect(near_->queues[i], far_->queues[i]);
}

Cargo LoadEnds::cargo(End from, std::uint32_t lane) const {
  const auto& a = end(from);
  const auto& b = end(other(from));
  const auto source = kCargoAt + lane * cargo_.lane_bytes();
  const auto target = source + cargo_.all_bytes();
  return {.source = a.memory->data() + source,
          .far = b.memory->data() + target,
          .from = a.mr.local() + source,
          .to = b.mr.remote() + target,
          .from_at = source,
          .to_at = target,
          .bytes = cargo_.bytes,
          .lane = lane};
}

Mailbox LoadEnds::box(End at) const {
  auto* data = end(at).memory->data();
  return {data + kProbeOutgoingAt, data + kProbeIncomingAt};
}

Route LoadEnds::trip_route(End from) const {
  return {end(from).mr.local() + kProbeOutgoingAt, end(other(from)).mr.remote() + kProbeIncomingAt, 8};
}

measure::ActivePath active_path(const Context& context, const LoadEnds& ends) {
  const auto& near = ends.end(End::kNear);
  auto path = active_path(context, near.context, ends.end(End::kFar).context);
  path.registration = fmt::format("payload in {} by {} (ibv_reg_mr, relaxed ordering)", near.memory->kind(),
                                  verbs::name_of(near.mr.registration()));
  if (!near.queues.empty()) {
    path.registration +=
        fmt::format(", {} (DEVX umem); {} queues an end", near.queues.front().describe_memory(), near.queues.size());
    path.doorbell = "a UAR register for each queue, write-combining mapping";
  }
  return path;
}

}  // namespace marrow::experiments
