// SPDX-License-Identifier: Apache-2.0
// See queue_rates.h.
#include "experiments/gpu_rate/queue_rates.h"

#include <fmt/format.h>

#include <array>

#include "marrow/gda/dump.h"
#include "util/error.h"

namespace marrow::experiments {

BundleOptions rate_bundle(std::uint32_t queues) {
  return {.queues = queues,
          .buffer_bytes = queues * kRateFarBytes,
          .far = FarOrder::kRelaxed,
          .queue = {.sq_wqebbs = kRateWqebbs}};
}

QueueRates::QueueRates(const Context& context, const GpuBundle& bundle, const std::vector<gda::Qp>& lanes)
    : context_(context),
      bundle_(bundle),
      lanes_(bundle.device(), lanes.size()),
      report_(bundle.device(), 1),
      check_(bundle.device(), 1) {
  lanes_.write(lanes);
}

std::vector<double> QueueRates::repeat(const gpu::Kernel<RateJob>& kernel, const QueueRateSetup& setup,
                                       std::uint32_t repetitions) {
  std::vector<double> per_ns;
  for (std::uint32_t i = 0; i < repetitions && !context_.stopping(); ++i) {
    per_ns.push_back(once(kernel, setup));
    check(setup);
  }
  return per_ns;
}

double QueueRates::once(const gpu::Kernel<RateJob>& kernel, const QueueRateSetup& setup) {
  report_.write(std::array{RateReport{}});
  const RateJob job{.set = set(),
                    .to = bundle_.ends().b().mr.remote(),
                    .rounds = setup.rounds,
                    .teams_per_queue = setup.teams_per_queue,
                    .report = report_.data()};
  gpu::run(bundle_.device(), kernel, setup.grid, job, {.limit = context_.limit, .stop = context_.stop});
  const auto report = report_.read().front();
  if (report.failed != 0) {
    throw util::Error(fmt::format("{}: {} of the teams failed; the first: {}\n{}", kernel.name, report.failed,
                                  gda::format_result(report.result), gda::format_dump(report.dump)));
  }
  const auto messages = setup.messages(static_cast<std::uint32_t>(lanes_.size()));
  posted_ += messages;
  return static_cast<double>(messages) / static_cast<double>(report.end_ns - report.begin_ns);
}

void QueueRates::check(const QueueRateSetup& setup) {
  const auto queues = static_cast<unsigned>(lanes_.size());
  check_.write(std::array{RateCheckReport{}});
  const RateCheckJob job{.set = set(),
                         .far = bundle_.ends().b().memory->data(),
                         .end = posted_ / queues,
                         .shared = setup.shared,
                         .report = check_.data()};
  gpu::run(bundle_.device(), rate_check_kernel(), {.blocks = queues, .threads = 256}, job,
           {.limit = context_.limit, .stop = context_.stop});
  const auto report = check_.read().front();
  if (report.wrong_places == 0 && report.wrong_queues == 0) return;
  throw util::Error(
      fmt::format("{} places at the far side hold wrong values; where WQE {} wrote 0x{:016x} stands "
                  "0x{:016x}; {} queues counted wrong",
                  report.wrong_places, report.index, report.expected, report.seen, report.wrong_queues));
}

}  // namespace marrow::experiments
