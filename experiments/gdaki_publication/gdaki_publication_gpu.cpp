// SPDX-License-Identifier: Apache-2.0
// The host's part of gdaki-publication on a GPU.
#include "experiments/gdaki_publication/gdaki_publication_gpu.h"

#include <optional>

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/common/host_rung.h"
#include "experiments/gdaki_publication/publication_kernels.h"
#include "experiments/gdaki_publication/publications.h"
#include "gpu/memory.h"

namespace marrow::experiments {

void gdaki_publication_on_gpu(Context& context, const Point& point, measure::Record& record) {
  constexpr std::uint32_t kBytes = 8;
  const bool by_host = point.policy == GdakiHostRung::name;
  GpuBench bench(context, {.placement = by_host ? GdakiHostRung::placement : gda::Placement{}});
  report_path(context, bench, /*lanes=*/1);
  auto job = put_job(bench, kBytes);
  std::optional<HostRung> rung;
  if (by_host) {
    rung.emplace(context, std::vector{bench.a().queue.handle()}, gpu::pinned_source(bench.device()));
    job.qp = rung->forwarded(job.qp);
  }
  auto kernels = shared_queue_puts(point.policy);
  if (kernels.time.entry == nullptr) kernels = like_gdaki_puts(point.policy);
  measure_puts_on_gpu(context, bench, kernels, job, {.each = counts_of_publication(point.policy)}, record);
  if (rung) rung->finish(record);
  record.verified = true;
}

}  // namespace marrow::experiments
