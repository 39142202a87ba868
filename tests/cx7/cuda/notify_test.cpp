// SPDX-License-Identifier: Apache-2.0
// Writes with immediate through the engine made of GPU threads, both ends' queues in GPU memory. Waived without a GPU.
#include <gtest/gtest.h>

#include "ends.h"
#include "lanes.h"

namespace marrow::cx7::test {
namespace {

struct Outcome {
  gda::Result sent;
  gda::Notice last;
  std::uint64_t right = 0;
};

/// `times` notices from a to b, where `receives` are out at once.
Outcome notify(Ends& ends, std::uint64_t times, std::uint32_t receives) {
  const gpu::Array<gda::Notice> last(ends.gpu, 1);
  const gpu::Array<std::uint64_t> right(ends.gpu, 1);
  NoticeJob job{.send = ends.job(What::kPointerWrite),
                .ring = ends.pair.b->queue.receive_ring(),
                .receives = receives,
                .word = reinterpret_cast<const std::uint64_t*>(ends.pair.b->data()),
                .last = last.data(),
                .right = right.data()};
  job.send.times = times;
  gpu::run(ends.gpu, notices(), {.blocks = 2}, job, {.limit = std::chrono::seconds(20)});
  return {ends.result.read().at(0), last.read().at(0), right.read().at(0)};
}

TEST_F(GpuEngine, RefusesAnImmediateWhereNoRqIs) {
  Ends ends;
  EXPECT_EQ(notify(ends, 1, 0).sent.status, gda::Status::kRemoteOperation);
  EXPECT_EQ(ends.word(*ends.pair.b), 0u);
}

TEST_F(GpuEngine, ASenderThatFindsNoReceiveEndsWithThatError) {
  Ends ends({.receives = 16, .behaviour = {.rnr_retry = 3, .min_rnr_nak = 14}});
  EXPECT_EQ(notify(ends, 1, 0).sent.status, gda::Status::kRnrRetryExceeded);
  EXPECT_EQ(ends.word(*ends.pair.b), 0u);
}

TEST_F(GpuEngine, ImmediatesComeInOrderWithTheirBytes) {
  Ends ends({.receives = 16});
  const auto outcome = notify(ends, 1000, 8);
  EXPECT_TRUE(outcome.sent.ok()) << gda::status_name(outcome.sent.status);
  EXPECT_EQ(outcome.right, 1000u) << "then came " << outcome.last.imm << ", "
                                  << gda::status_name(outcome.last.result.status);
}

TEST_F(GpuEngine, ImmediatesCarryOnPastTheWrapOfEveryIndex) {
  Ends ends({.receives = 4});
  constexpr std::uint64_t kTimes = 2 * 65'536 + 100;
  const auto outcome = notify(ends, kTimes, 4);
  EXPECT_TRUE(outcome.sent.ok()) << gda::status_name(outcome.sent.status);
  EXPECT_EQ(outcome.right, kTimes);
}

TEST_F(GpuEngine, WritesGoOnBehindImmediates) {
  Ends ends({.receives = 16});
  ASSERT_TRUE(notify(ends, 10, 4).sent.ok());
  auto job = ends.job(What::kInlineWrite);
  job.batch = 7;
  job.times = 700;
  EXPECT_TRUE(ends.run(job).ok());
  EXPECT_EQ(ends.word(*ends.pair.b), 700u);
}

}  // namespace
}  // namespace marrow::cx7::test
