// SPDX-License-Identifier: Apache-2.0
// The host's part of gdaki-publication on a GPU.
#include "experiments/gdaki_publication/gdaki_publication_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/common/host_rung.h"
#include "experiments/gdaki_publication/publication_kernels.h"
#include "experiments/gdaki_publication/publication_rate.h"
#include "experiments/gdaki_publication/publications.h"
#include "experiments/gpu_rate/queue_rates.h"
#include "experiments/gpu_rate/rate_verdict.h"
#include "gpu/memory.h"
#include "util/error.h"

namespace marrow::experiments {

namespace {

/// A fresh queue, and the thread that rings where the policy wants one.
struct FreshQueue {
  FreshQueue(const Context& context, bool by_host)
      : bench(context, {.placement = by_host ? GdakiHostRung::placement : gda::Placement{}}),
        job(put_job(bench, /*bytes=*/8)) {
    if (!by_host) {
      report_path(context, bench, /*lanes=*/1);
    } else {
      report_host_rung_path(context, bench, /*lanes=*/1);
      rung.emplace(context, std::vector{bench.a().queue.handle()}, gpu::pinned_source(bench.device()));
      job.qp = rung->forwarded(job.qp);
    }
  }

  GpuBench bench;
  PutJob job;
  std::optional<HostRung> rung;
};

void measure_rate(const Context& context, const Point& point, measure::Record& record) {
  constexpr std::uint32_t kRepetitions = 20;
  constexpr std::uint32_t kPutsAQueue = 16384;
  const auto threads = static_cast<std::uint32_t>(point.number("threads"));
  const QueueRateSetup setup{.grid = {.blocks = kRatedQueues, .threads = threads},
                             .rounds = kPutsAQueue / threads,
                             .teams_per_queue = threads,
                             .shared = true};
  const GpuBundle bundle(context, rate_bundle(kRatedQueues));
  report_path(context, bundle, fmt::format("{} threads in {} CTAs", threads * kRatedQueues, kRatedQueues));
  const auto kernel = publication_rate_kernel(point.policy, point.text("in_step") == "yes");
  const ExecutedWqes executed(context);
  QueueRates rates(context, bundle, bundle.on_lanes());
  (void)rates.repeat(kernel, setup, context.warmup > 0 ? 2 : 0);
  const auto per_ns = rates.repeat(kernel, setup, std::min(kRepetitions, context.iterations));
  record.counts.operations = rates.posted();
  if (per_ns.empty()) return;
  (void)add_rates(record, "message rate", context.nic_kind, per_ns);
  executed.expect(rates.posted(), record);
  record.verified = true;
}

}  // namespace

void gdaki_publication_on_gpu(Context& context, const Point& point, measure::Record& record) {
  if (point.number("queues") != 1) return measure_rate(context, point, record);
  const bool by_host = point.policy == GdakiHostRung::name;
  if (counts_of_publication(point.policy).dbrecs == 0 && !by_host && has_strict_nic(context)) {
    throw util::Error("a strict software NIC waits for the record, which this policy never writes",
                      util::ErrorKind::kFailed, "MARROW_SIM_STRICT=0");
  }
  auto kernels = shared_queue_puts(point.policy);
  if (kernels.time.entry == nullptr) kernels = like_gdaki_puts(point.policy);
  const PutPromise promise{.each = counts_of_publication(point.policy)};
  {
    FreshQueue on(context, by_host);
    measure_puts_on_gpu(context, on.bench, {.time = kernels.time}, on.job, promise, record);
    if (on.rung) on.rung->finish(record);
  }
  FreshQueue on(context, by_host);  // a lane that finds a used queue looks once where it stands, which is no put's
  count_puts_on_gpu(context, on.bench, kernels.count, on.job, promise, record);
  record.verified = true;
}

}  // namespace marrow::experiments
