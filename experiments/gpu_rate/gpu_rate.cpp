// SPDX-License-Identifier: Apache-2.0
// Rows: rows.h. What is timed: rate_loop.h. On host lanes only the rows of one thread run: a CPU has no warps, and its
// own ways of sharing are no question of the paper.
#include "experiments/gpu_rate/gpu_rate.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/common/bundle.h"
#include "experiments/gpu_rate/gpu_rate_policies.h"
#include "experiments/gpu_rate/rate_loop.h"
#include "experiments/gpu_rate/rate_verdict.h"
#include "experiments/gpu_rate/rows.h"
#include "marrow/gda/dump.h"
#include "util/clock.h"
#include "util/error.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/gpu_rate/gpu_rate_gpu.h"
#endif

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kHostWqes = 4096;  // of one repetition

RateTarget target_of(const Bundle& bundle) {
  return {bundle.b().mr.remote(), kRateWqebbs - 1, /*number=*/0};
}

/// \throws util::Error unless the far side holds the last ring's worth of values.
void check_far(const Bundle& bundle, std::uint64_t end) {
  const auto* const words = reinterpret_cast<std::uint64_t*>(bundle.b().memory->data());
  const auto until = util::now() + std::chrono::seconds(1);  // an acknowledged put may still be on its way
  for (auto index = end - std::min<std::uint64_t>(end, kRateWqebbs); index < end; ++index) {
    const auto expected = stamp_word(index, 0);
    const std::atomic_ref word(const_cast<std::uint64_t&>(words[index % kRateWqebbs]));
    auto seen = word.load();
    while (seen != expected && util::now() < until) seen = word.load();
    if (seen == expected) continue;
    throw util::Error(fmt::format("where WQE {} wrote 0x{:016x} stands 0x{:016x}", index, expected, seen));
  }
}

/// One repetition. \returns messages a nanosecond.
template <std::uint32_t kEach>
double post_once(const Context& context, const Bundle& bundle) {
  gda::SendQueue<RateOwn> sq(bundle.a().queues.front().handle());
  const auto start = context.clock->ticks();
  const auto result = post_all<kEach>(gda::Solo{}, sq, target_of(bundle), kHostWqes / kEach);
  const auto ticks = context.clock->ticks() - start;
  if (!result.ok()) {
    throw util::Error(
        fmt::format("the puts did not complete: {}\n{}", gda::format_result(result), gda::format_dump(sq.dump())));
  }
  return kHostWqes / (static_cast<double>(ticks) * context.clock->ns_per_tick());
}

void run_gpu_rate(Context& context, const Point& point, measure::Record& record) {
  const auto& row = row_of(point);
  if (row.threads != 1 || row.queues != 1 || row.how == RateHow::kUnordered) {
    throw util::Error("a host lane is one thread with one queue, and the control is about a GPU's fence",
                      util::ErrorKind::kWaived, "--lane gpu for this row");
  }
  const Bundle bundle(context,
                      {.buffer_bytes = kRateFarBytes, .far = FarOrder::kRelaxed, .queue = {.sq_wqebbs = kRateWqebbs}},
                      memory_of_host_lanes(context));
  report_path(context, bundle);
  const ExecutedWqes executed(context);
  std::vector<double> per_ns;
  for (std::uint32_t i = 0; i < context.iterations && !context.stopping(); ++i) {
    per_ns.push_back(row.batch == 16 ? post_once<16>(context, bundle) : post_once<1>(context, bundle));
    record.counts.operations += kHostWqes;
    check_far(bundle, record.counts.operations);
  }
  if (per_ns.empty()) return;
  add_rates(record, "message rate", context.nic_kind, per_ns);
  executed.expect(record.counts.operations, record);
  record.verified = true;
}

}  // namespace

Experiment gpu_rate() {
  std::vector<Variant> variants;
  for (const auto& row : rate_rows()) variants.push_back(variant_of(row));
  return {
      .name = "gpu-rate",
      .title = "Table 5, rate of 8 B puts",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices; gpu lanes: a GPU of sm_90 or newer",
      .variants = std::move(variants),
      .iterations = 20,
      .run = run_gpu_rate,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = gpu_rate_on_gpu,
#endif
  };
}

}  // namespace marrow::experiments
