// SPDX-License-Identifier: Apache-2.0
// The host's part of gpu-rate on a GPU: one kernel a repetition, each followed by the GPU's own check.
#include "experiments/gpu_rate/gpu_rate_gpu.h"

#include <fmt/format.h>

#include <array>

#include "experiments/common/gpu/gpu_bundle.h"
#include "experiments/gpu_rate/rate_kernels.h"
#include "experiments/gpu_rate/rate_verdict.h"
#include "gpu/launch.h"
#include "gpu/memory.h"
#include "marrow/gda/dump.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

BundleOptions options_of(const RateRow& row) {
  return {.queues = row.queues,
          .buffer_bytes = row.queues * kRateFarBytes,
          .far = FarOrder::kRelaxed,
          .queue = {.sq_wqebbs = kRateWqebbs}};
}

class RateRunner {
 public:
  RateRunner(const Context& context, GpuBundle& bundle, const RateRow& row)
      : context_(context),
        bundle_(bundle),
        row_(row),
        report_(bundle.device(), 1),
        arrived_(bundle.device(), 1),
        check_(bundle.device(), 1) {}

  /// Rings' worths of WQEs that were built before. \returns messages a nanosecond, of each repetition.
  std::vector<double> bursts(std::uint32_t repetitions) {
    return repeat(rate_kernel_of_bursts(), {.blocks = row_.queues, .threads = 256},
                  std::uint64_t{row_.queues} * kRateWqebbs, repetitions);
  }
  /// The row itself.
  std::vector<double> lanes(std::uint32_t repetitions) {
    const bool shared = is_shared(row_.how);
    if (shared && !shared_) run(rate_share_kernel(), {.threads = 32}, RateShareJob{bundle_.set()});
    shared_ = shared;
    const auto kernel = shared ? rate_kernel_of_sharers(row_) : rate_kernel_of_owners(row_);
    return repeat(kernel, {.blocks = row_.blocks, .threads = row_.threads / row_.blocks}, row_.messages(), repetitions);
  }
  [[nodiscard]] std::uint64_t posted() const { return posted_; }

 private:
  template <class Job>
  void run(const gpu::Kernel<Job>& kernel, const gpu::Grid& grid, const Job& job) {
    gpu::run(bundle_.device(), kernel, grid, job, {.limit = context_.limit, .stop = context_.stop});
  }

  std::vector<double> repeat(const gpu::Kernel<RateJob>& kernel, const gpu::Grid& grid, std::uint64_t messages,
                             std::uint32_t repetitions) {
    std::vector<double> per_ns;
    for (std::uint32_t i = 0; i < repetitions && !context_.stopping(); ++i) {
      const auto report = run_once(kernel, grid);
      posted_ += messages;
      check();
      per_ns.push_back(static_cast<double>(messages) / static_cast<double>(report.end_ns - report.begin_ns));
    }
    return per_ns;
  }

  RateReport run_once(const gpu::Kernel<RateJob>& kernel, const gpu::Grid& grid) {
    report_.write(std::array{RateReport{}});
    arrived_.write(std::array{0U});
    const auto teams = row_.threads / row_.team();
    run(kernel, grid,
        RateJob{.set = bundle_.set(),
                .to = bundle_.ends().b().mr.remote(),
                .rounds = row_.rounds,
                .teams_per_queue = row_.how == RateHow::kRoundRobin ? 1 : teams / row_.queues,
                .report = report_.data(),
                .arrived = arrived_.data()});
    const auto report = report_.read().front();
    if (report.failed == 0) return report;
    throw util::Error(fmt::format("{}: {} of the teams failed; the first: {}\n{}", kernel.name, report.failed,
                                  gda::format_result(report.result), gda::format_dump(report.dump)));
  }

  /// \throws util::Error when a place holds a wrong value, or a queue has counted wrong.
  void check() {
    check_.write(std::array{RateCheckReport{}});
    run(rate_check_kernel(), {.blocks = row_.queues, .threads = 256},
        RateCheckJob{.set = bundle_.set(),
                     .far = bundle_.ends().b().memory->data(),
                     .end = posted_ / row_.queues,
                     .shared = shared_,
                     .report = check_.data()});
    const auto report = check_.read().front();
    if (report.wrong_places != 0) {
      throw util::Error(
          fmt::format("{} places at the far side hold wrong values; where WQE {} wrote 0x{:016x} stands "
                      "0x{:016x}",
                      report.wrong_places, report.index, report.expected, report.seen));
    }
    if (report.wrong_queues != 0) {
      throw util::Error(fmt::format("{} queues counted wrong: {} posted instead of {}", report.wrong_queues,
                                    report.posted, posted_ / row_.queues));
    }
  }

  const Context& context_;
  GpuBundle& bundle_;
  const RateRow& row_;
  gpu::Array<RateReport> report_;
  gpu::Array<std::uint32_t> arrived_;
  gpu::Array<RateCheckReport> check_;
  bool shared_ = false;
  std::uint64_t posted_ = 0;
};

std::uint64_t stale_wqes(const Context& context) {
  return context.nic_count ? context.nic_count("strict_stale_wqe_index") : 0;
}

void measure_row(Context& context, const RateRow& row, measure::Record& record) {
  GpuBundle bundle(context, options_of(row));
  report_path(context, bundle,
              fmt::format("{} thread{} in {} CTA{}", row.threads, row.threads == 1 ? "" : "s", row.blocks,
                          row.blocks == 1 ? "" : "s"));
  const ExecutedWqes executed(context);
  RateRunner runner(context, bundle, row);
  const std::uint32_t warmup = context.warmup > 0 ? 2 : 0;
  (void)runner.bursts(warmup);
  const auto prebuilt = runner.bursts(context.iterations);
  (void)runner.lanes(warmup);
  const auto lanes = runner.lanes(context.iterations);
  if (lanes.empty() || prebuilt.empty()) return;
  record.counts.operations = runner.posted();
  RateMedians medians;
  medians.lanes = add_rates(record, "message rate", context.nic_kind, lanes);
  medians.prebuilt = add_rates(record, "rate of prebuilt WQEs", context.nic_kind, prebuilt);
  executed.expect(runner.posted(), record);
  if (context.nic_kind == measure::Kind::kCx7Sim) judge_rate(row, medians, bundle.device().facts().name, record);
  record.verified = true;
}

/// Without a fence a doorbell may overtake its WQE. A strict NIC refuses that, as it must; a lenient one counts it.
void measure_control(Context& context, const RateRow& row, measure::Record& record) {
  const auto before = stale_wqes(context);
  try {
    measure_row(context, row, record);
  } catch (const util::Error&) {
    const auto stale = stale_wqes(context) - before;
    if (stale == 0) throw;
    throw util::Error(fmt::format("without a fence {} of the doorbells overtook their WQE, and the NIC refused what "
                                  "it met instead: fences are for that, and there is nothing to time",
                                  stale),
                      util::ErrorKind::kWaived, "--lenient, which lets the NIC wait for the bytes");
  }
  const auto stale = stale_wqes(context) - before;
  if (stale != 0) {
    record.warnings.push_back(
        fmt::format("{} WQEs were older than their doorbell; the lenient NIC waited for them", stale));
  }
}

}  // namespace

void gpu_rate_on_gpu(Context& context, const Point& point, measure::Record& record) {
  const auto& row = row_of(point);
  if (row.how == RateHow::kUnordered) return measure_control(context, row, record);
  measure_row(context, row, record);
}

}  // namespace marrow::experiments
