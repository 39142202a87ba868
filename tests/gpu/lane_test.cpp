// SPDX-License-Identifier: Apache-2.0
// A lane on a GPU posts to the software NIC: what goes wrong comes back as a status with the queue's dump, within its
// time; then what goes right, verified by the GPU and once more by the host.
#include <gmock/gmock.h>

#include "experiments/common/gpu/gpu_puts.h"
#include "experiments/single_op/single_op_kernels.h"
#include "gpu/gpu_main.h"
#include "gpu/memory.h"
#include "measure/lane_clock.h"
#include "util/clock.h"
#include "util/error.h"
#include "verbs/simulated_nic.h"

namespace marrow::experiments {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint32_t kBytes = 8;

struct GpuLane : ::testing::Test {
  measure::LaneClock clock;
  Context context{.nic = "cx7-sim",
                  .devices = {"mlx5_sim0", "mlx5_sim1"},
                  .nic_kind = measure::Kind::kCx7Sim,
                  .iterations = 300,
                  .warmup = 20,
                  .clock = &clock,
                  .gpu = test::the_gpu(),
                  .limit = seconds(20)};

  /// The sentence with which the job fails, within `limit`.
  std::string failure(const PutJob& job, std::chrono::nanoseconds limit) {
    const auto start = util::now();
    try {
      (void)GpuRunner(context).run(single_op_puts(SingleOpRow::kInline).time, job);
    } catch (const util::Error& problem) {
      EXPECT_LT(util::now() - start, limit);
      return problem.what();
    }
    return "(nothing failed)";
  }
};

TEST_F(GpuLane, AWrongRkeyIsAnErrorInTheKernelAndASentenceOnTheHost) {
  GpuBench bench(context);
  auto job = put_job(bench, kBytes);
  job.operations = 5;
  job.route.to.rkey ^= 0xff;
  EXPECT_THAT(failure(job, seconds(10)), AllOf(HasSubstr("remote access"), HasSubstr("first error")));
}

TEST_F(GpuLane, AQueueThatNobodyServesEndsInATimeOutWithItsDump) {
  GpuBench bench(context);
  const auto source = gpu::gpu_source(*context.gpu);
  verbs::DevxQpOptions options;
  options.timeout = std::chrono::milliseconds(300);
  options.memory = {.sq = source, .cq = source, .dbrec = source, .counters = source};
  const verbs::DevxQp unconnected(bench.a().context, bench.a().pd, options);
  const gpu::Doorbell doorbell(*context.gpu, unconnected.handle().doorbell);
  auto job = put_job(bench, kBytes);
  job.qp = unconnected.handle();
  job.qp.doorbell = doorbell.on_gpu();
  job.operations = 5;
  EXPECT_THAT(failure(job, seconds(5)), AllOf(HasSubstr("timed out"), HasSubstr("pi 1, ci 0")));
}

TEST_F(GpuLane, BytesThatDoNotArriveWhereTheyShouldAreNoticed) {
  GpuBench bench(context);
  auto job = put_job(bench, kBytes);
  job.operations = 5;
  job.far += 4096;  // looks elsewhere
  EXPECT_THAT(failure(job, seconds(10)), HasSubstr("operation"));
}

TEST_F(GpuLane, PutsAreVerifiedTimedAndCountedByTheGpu) {
  GpuBench bench(context);
  measure::Record record;
  measure_puts_on_gpu(context, bench, single_op_puts(SingleOpRow::kInline), kBytes,
                      {.recipe = gda::recipe_of(gda::Ordering::kGpuFence)}, record);
  ASSERT_GE(record.metrics.size(), 3U);
  EXPECT_EQ(record.metrics[0].name, "issue");
  EXPECT_EQ(record.metrics[0].kind, measure::Kind::kGpu);
  EXPECT_EQ(record.metrics[0].summary.n, context.iterations);
  EXPECT_EQ(record.metrics[1].name, "issue floor");
  EXPECT_EQ(record.metrics[2].kind, measure::Kind::kCx7Sim);
  EXPECT_EQ(record.counts.operations, context.iterations);
  EXPECT_TRUE(record.expectations.empty()) << record.expectations.front().text;
}

TEST_F(GpuLane, TheHostSeesTheLastPutsBytesAtTheFarEnd) {
  GpuBench bench(context);
  for (const auto row : {SingleOpRow::kInline, SingleOpRow::kPointer, SingleOpRow::kUnordered}) {
    auto job = put_job(bench, kBytes);
    job.operations = 10;
    (void)GpuRunner(context).run(single_op_puts(row).time, job);
    std::uint64_t word = 0;
    bench.b().buffer.read(kDestinationAt, std::as_writable_bytes(std::span(&word, 1)));
    EXPECT_EQ(word, stamp_word(job.first + 9));
  }
}

TEST_F(GpuLane, RoundTripsAreAnsweredByASecondCta) {
  GpuBench bench(context);
  const auto trips = trips_on_gpu(context, bench, single_op_round_trips(SingleOpRow::kInline));
  EXPECT_EQ(trips.by_ticks_ns.size(), context.iterations);
}

TEST_F(GpuLane, AForwardedDoorbellRingsToo) {
  GpuBench bench(context, {.first_doorbell = gpu::DoorbellKind::kForwarded});
  EXPECT_EQ(bench.doorbell().kind(), gpu::DoorbellKind::kForwarded);
  auto job = put_job(bench, kBytes);
  job.operations = 100;
  EXPECT_EQ(GpuRunner(context).run(single_op_puts(SingleOpRow::kInline).time, job).operations, 100U);
}

}  // namespace
}  // namespace marrow::experiments
