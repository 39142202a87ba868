// SPDX-License-Identifier: Apache-2.0
// See gpu_puts.h. A kernel reports as plain data; here it becomes samples, counts, or a sentence with the queue's dump.
#include "experiments/common/gpu/gpu_puts.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/common/counts.h"
#include "experiments/common/stages.h"
#include "gpu/memory.h"
#include "marrow/gda/dump.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

using measure::Kind;
using measure::Samples;

std::string bytes_of(std::uint32_t word) {
  return fmt::format("{:02x} {:02x} {:02x} {:02x}", word & 0xff, word >> 8 & 0xff, word >> 16 & 0xff, word >> 24);
}

void require_success(const LaneReport& report, const char* lane) {
  if (!report.result.ok()) {
    throw util::Error(fmt::format("{}: put {} did not complete: {}\n{}", lane, report.operations,
                                  gda::format_result(report.result), gda::format_dump(report.dump)));
  }
  const auto& wrong = report.mismatch;
  if (wrong.bytes != 0) {
    throw util::Error(fmt::format("{}: operation {}: bytes {} to {} of {} at the far side are {} and should be {}",
                                  lane, wrong.operation, wrong.at, wrong.at + 3, wrong.bytes, bytes_of(wrong.seen),
                                  bytes_of(wrong.expected)));
  }
}

std::size_t kept(const LaneReport& report, std::uint64_t warmup) {
  return report.operations > warmup ? report.operations - warmup : 0;
}

void add_stages(GpuRunner& runner, GpuBench& bench, const PutKernels& kernels, PutJob job, const Context& context,
                measure::Record& record) {
  job.first = bench.first_of_next_loop();
  const gpu::Array<StageTicks> stages(bench.device(), job.operations);
  job.stages = stages.data();
  const auto report = runner.run(kernels.stages, job);
  const auto done = kept(report, job.warmup);
  StageSamples samples(done);
  for (const auto& of_one : stages.read(done)) samples.add(of_one.ticks, report.span.ns_per_tick());
  add_stages(record, {Kind::kGpu, context.nic_kind}, samples);
}

}  // namespace

GpuRunner::GpuRunner(const Context& context) : context_(context), stop_(*context.gpu) {}

LaneReport GpuRunner::run(const gpu::Kernel<PutJob>& kernel, PutJob job) {
  if (job.route.bytes % 4 != 0) throw util::Error("a GPU lane stamps whole words: bytes must be a multiple of 4");
  const gpu::Array<LaneReport> report(*context_.gpu, 1);
  job.stop = stop_.word();
  job.report = report.data();
  gpu::run(*context_.gpu, kernel, {}, job, {.limit = context_.limit, .stop = context_.stop, .word = &stop_});
  auto seen = report.read().front();
  require_success(seen, kernel.name);
  return seen;
}

LaneReport GpuRunner::run(const gpu::Kernel<TripJob>& kernel, TripJob job) {
  const gpu::Array<LaneReport> reports(*context_.gpu, 2);
  const gpu::Array<std::uint32_t> near_ended(*context_.gpu, 1);
  job.stop = stop_.word();
  job.reports = reports.data();
  job.near_ended = near_ended.data();
  gpu::run(*context_.gpu, kernel, {.blocks = 2}, job, {.limit = context_.limit, .stop = context_.stop, .word = &stop_});
  const auto seen = reports.read();
  require_success(seen[0], "near lane");
  require_success(seen[1], "far lane");
  if (seen[0].unanswered) throw util::Error(fmt::format("round trip {}: no reply within 2 s", seen[0].operations));
  return seen[0];
}

PutJob put_job(GpuBench& bench, std::uint32_t bytes) {
  return {.qp = bench.qp_a(),
          .route = bench.put_route(bytes),
          .far = bench.destination(),
          .first = bench.first_of_next_loop()};
}

void count_puts_on_gpu(const Context& context, GpuBench& bench, const gpu::Kernel<PutJob>& kernel, PutJob job,
                       const PutPromise& promise, measure::Record& record) {
  constexpr std::uint64_t kCounted = 1000;
  job.first = bench.first_of_next_loop();
  job.warmup = 0;
  job.operations = std::min<std::uint64_t>(kCounted, context.iterations);
  const auto report = GpuRunner(context).run(kernel, job);
  if (report.operations == 0) return;
  record.counts = counts_of(report.counts, report.operations);
  const auto promised = promise.each ? counts_times(*promise.each, report.operations)
                                     : promised_counts(promise.recipe, promise.segments, report.operations);
  expect_counts(record, report.counts, promised);
}

TripJob trip_job(const GpuBench& bench) {
  return {.near = {bench.qp_a(), bench.request_route(), bench.near_box()},
          .far = {bench.qp_b(), bench.reply_route(), bench.far_box()}};
}

PutTimes timed_on_gpu(const Context& context, const gpu::Kernel<PutJob>& kernel, const PutJob& job) {
  const gpu::Array<PutStamps> stamps(*context.gpu, job.operations);
  PutJob with_stamps = job;
  with_stamps.stamps = stamps.data();
  const auto report = GpuRunner(context).run(kernel, with_stamps);
  const auto done = kept(report, job.warmup);
  PutTimes times(done);
  for (const auto& of_one : stamps.read(done)) times.add(of_one, report.span.ns_per_tick());
  return times;
}

void measure_puts_on_gpu(const Context& context, GpuBench& bench, const PutKernels& kernels, std::uint32_t bytes,
                         const PutPromise& promise, measure::Record& record) {
  measure_puts_on_gpu(context, bench, kernels, put_job(bench, bytes), promise, record);
}

void measure_puts_on_gpu(const Context& context, GpuBench& bench, const PutKernels& kernels, PutJob job,
                         const PutPromise& promise, measure::Record& record) {
  GpuRunner runner(context);
  job.warmup = context.warmup;
  job.operations = context.iterations;
  const auto times = timed_on_gpu(context, kernels.time, job);
  record.counts.operations = times.issue.size();
  add_time(record, "issue", Kind::kGpu, times.issue);
  if (kernels.floor.entry != nullptr) {
    job.first = bench.first_of_next_loop();
    add_time(record, "issue floor", Kind::kGpu, timed_on_gpu(context, kernels.floor, job).issue);
  }
  add_time(record, "put+completion", context.nic_kind, times.completion);
  if (kernels.count.entry != nullptr) count_puts_on_gpu(context, bench, kernels.count, job, promise, record);
  if (kernels.stages.entry != nullptr) add_stages(runner, bench, kernels, job, context, record);
}

TripTimes trips_on_gpu(const Context& context, GpuBench& bench, const gpu::Kernel<TripJob>& kernel,
                       std::uint64_t delay_ns) {
  GpuRunner runner(context);
  const gpu::Array<GpuTripStamps> stamps(bench.device(), context.iterations);
  auto job = trip_job(bench);
  job.warmup = context.warmup;
  job.operations = context.iterations;
  job.delay_ns = delay_ns;
  job.stamps = stamps.data();
  const auto report = runner.run(kernel, job);
  TripTimes times;
  for (const auto& trip : stamps.read(kept(report, job.warmup))) {
    times.by_ticks_ns.push_back(static_cast<double>(trip.ticks.end - trip.ticks.start) * report.span.ns_per_tick());
    times.by_globaltimer_ns.push_back(static_cast<double>(trip.end_ns - trip.start_ns));
  }
  return times;
}

}  // namespace marrow::experiments
