// SPDX-License-Identifier: Apache-2.0
// See ring_puts.h.
#include "experiments/common/load/gpu/ring_puts.h"

#include "marrow/gda/dump.h"

namespace marrow::experiments {

PutTimes ring_puts_on_gpu(const Context& context, const gpu::Kernel<RingPutJob>& kernel, const proxy::Ring& ring,
                          const Cargo& cargo) {
  auto& device = *context.gpu;
  gpu::StopWord stop(device);
  const gpu::Array<PutStamps> stamps(device, context.iterations);
  const gpu::Array<LaneReport> report(device, 1);
  const gpu::Array<gda::Status> status(device, 1);
  RingPutJob job{.ring = ring,
                 .request = {.from = cargo.from_at, .to = cargo.to_at, .bytes = cargo.bytes},
                 .status = status.data()};
  job.put.route = {cargo.from, cargo.to, cargo.bytes};
  job.put.far = cargo.far;
  job.put.warmup = context.warmup;
  job.put.operations = context.iterations;
  job.put.stop = stop.word();
  job.put.stamps = stamps.data();
  job.put.report = report.data();
  gpu::run(device, kernel, {}, job, {.limit = context.limit, .stop = context.stop, .word = &stop});
  const auto seen = report.read().front();
  if (!seen.result.ok()) {
    throw util::Error(fmt::format("put {} did not complete: {}", seen.operations, gda::format_result(seen.result)));
  }
  if (seen.mismatch.bytes != 0) {
    throw util::Error(fmt::format("put {}: bytes {} to {} of {} at the far side are not what was sent",
                                  seen.mismatch.operation, seen.mismatch.at, seen.mismatch.at + 3, cargo.bytes));
  }
  const auto done = seen.operations > context.warmup ? seen.operations - context.warmup : 0;
  PutTimes times(done);
  for (const auto& of_one : stamps.read(done)) times.add(of_one, seen.span.ns_per_tick());
  return times;
}

}  // namespace marrow::experiments
