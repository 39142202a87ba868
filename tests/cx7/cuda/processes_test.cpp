// SPDX-License-Identifier: Apache-2.0
// GPU threads of this process and GPU memory of another one, both on one GPU, which they take turns on. What is refused
// first. Waived where there is no GPU.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "cx7/shim/control.h"
#include "gpu/doorbell.h"
#include "gpu/memory.h"
#include "lanes.h"
#include "other_process.h"
#include "util/clock.h"
#include "util/error.h"
#include "verbs/endpoint.h"

namespace marrow::cx7::test {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<gpu::Device> the_gpu() {
  static const auto device = [] {
    const std::string domain = "gpu" + std::to_string(::getpid());
    ::setenv("MARROW_SIM_DOMAIN", domain.c_str(), 1);
    EXPECT_EQ(marrow_cx7_enable(), 0) << marrow_cx7_error();
    return gpu::open(0);
  }();
  return device;
}

/// This process's end, connected with one of the other process.
struct Here {
  /// `first` is what the other process does before it hears of this one.
  explicit Here(const OtherProcess& other, std::optional<Order> first = {})
      : gpu(*the_gpu()),
        end("mlx5_sim0", gpu::gpu_memory(gpu, kFarBytes), options(gpu)),
        result(gpu, 1),
        doorbell(gpu, end.queue.handle().doorbell) {
    there = other.tell(Order::kOpen);
    if (first) there.remote = other.tell(*first).remote;
    end.queue.connect(there.address);
    other.tell({.order = Order::kConnect, .address = end.queue.address()});
  }

  static verbs::DevxQpOptions options(gpu::Device& gpu) {
    const auto source = gpu::gpu_source(gpu);
    verbs::DevxQpOptions made;
    made.memory = {source, source, source, source};
    made.timeout = 3s;
    return made;
  }
  LaneJob job(What what) const {
    LaneJob made{.qp = end.queue.handle(), .what = what, .here = end.local(), .there = there.remote};
    made.qp.doorbell = doorbell.on_gpu();
    made.result = result.data();
    return made;
  }
  gda::Status run(const LaneJob& what) {
    gpu::run(gpu, lane(), {}, what, {.limit = 20s});
    return result.read().at(0).status;
  }
  std::uint64_t word() const {
    std::uint64_t value = 0;
    end.buffer.read(0, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  gpu::Device& gpu;
  verbs::Endpoint end;
  gpu::Array<gda::Result> result;
  gpu::Doorbell doorbell;
  Message there;
};

class GpuProcesses : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      static_cast<void>(the_gpu());
    } catch (const util::Error& error) {
      GTEST_SKIP() << "waived: " << error.what();
    }
    if (!other()) other() = std::make_unique<OtherProcess>();
  }
  static void TearDownTestSuite() { other().reset(); }
  static std::unique_ptr<OtherProcess>& other() {
    static std::unique_ptr<OtherProcess> process;
    return process;
  }
};

TEST_F(GpuProcesses, AForeignKeyIsRefusedAndChangesNoByte) {
  Here here(*other());
  auto job = here.job(What::kInlineWrite);
  job.there.rkey ^= 1;
  EXPECT_EQ(here.run(job), gda::Status::kRemoteAccess);
  EXPECT_EQ(other()->tell(Order::kRead).value, 0u);
}

TEST_F(GpuProcesses, AWriteBehindTheRegionIsRefused) {
  Here here(*other());
  auto job = here.job(What::kPointerWrite);
  job.there.addr += kFarBytes - 4;
  EXPECT_EQ(here.run(job), gda::Status::kRemoteAccess);
}

TEST_F(GpuProcesses, HostMemoryOfAnotherProcessIsRefused) {
  Here here(*other());
  auto job = here.job(What::kInlineWrite);
  job.there = other()->tell(Order::kAddHost).remote;
  ::usleep(300'000);  // nobody waits until others know of such a key; before, it is unknown to them
  EXPECT_EQ(here.run(job), gda::Status::kRemoteOperation);
}

TEST_F(GpuProcesses, MemoryOfCuMemCreateIsRefused) {
  Here here(*other());
  auto job = here.job(What::kInlineWrite);
  job.there = other()->tell(Order::kAddMapped).remote;
  EXPECT_EQ(here.run(job), gda::Status::kRemoteOperation);
}

TEST_F(GpuProcesses, MemoryThatCannotBeOpenedIsRefused) {
  other() = std::make_unique<OtherProcess>();
  Here here(*other(), Order::kAddFreed);
  EXPECT_EQ(here.run(here.job(What::kInlineWrite)), gda::Status::kRemoteOperation);
}

TEST_F(GpuProcesses, WritesReadsAndAddsInAnotherProcess) {
  Here here(*other());
  EXPECT_EQ(here.run(here.job(What::kInlineWrite)), gda::Status::kOk);
  EXPECT_EQ(other()->tell(Order::kRead).value, 1u);
  other()->tell(Order::kWrite, 41);
  EXPECT_EQ(here.run(here.job(What::kRead)), gda::Status::kOk);
  EXPECT_EQ(here.word(), 41u);
  auto add = here.job(What::kFetchAdd);
  add.operand = 2;
  EXPECT_EQ(here.run(add), gda::Status::kOk);
  EXPECT_EQ(here.word(), 41u);
  EXPECT_EQ(other()->tell(Order::kRead).value, 43u);
  auto swap = here.job(What::kCompareSwap);
  swap.compare = 43;
  swap.operand = 7;
  EXPECT_EQ(here.run(swap), gda::Status::kOk);
  EXPECT_EQ(other()->tell(Order::kRead).value, 7u);
}

TEST_F(GpuProcesses, WritesManyAndLargeOnes) {
  Here here(*other());
  auto many = here.job(What::kInlineWrite);
  many.batch = 16;
  many.times = 100'000;
  EXPECT_EQ(here.run(many), gda::Status::kOk);
  EXPECT_EQ(other()->tell(Order::kRead).value, many.times);
  constexpr std::uint32_t kBytes = 1'000'003;
  std::vector<std::uint8_t> sent(kBytes);
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < kBytes; ++i) sum += sent[i] = static_cast<std::uint8_t>(i * 7 + 3);
  here.end.buffer.write(0, std::as_bytes(std::span(sent)));
  auto large = here.job(What::kPointerWrite);
  large.bytes = kBytes;
  EXPECT_EQ(here.run(large), gda::Status::kOk);
  EXPECT_EQ(other()->tell(Order::kSum, kBytes).value, sum);
}

TEST_F(GpuProcesses, ANewRegionWorksAtOnceAndOneThatIsGoneIsRefused) {
  Here here(*other());
  auto job = here.job(What::kInlineWrite);
  for (int i = 0; i < 3; ++i) {
    job.there = other()->tell(Order::kAddGpu).remote;
    EXPECT_EQ(here.run(job), gda::Status::kOk) << i;
    const auto start = util::now();
    other()->tell(Order::kRemove);  // and frees its memory
    EXPECT_LT(util::now() - start, 1500ms) << i;
  }
  EXPECT_EQ(here.run(job), gda::Status::kRemoteAccess);
  Here again(*other());  // and the GPU is none the worse
  EXPECT_EQ(again.run(again.job(What::kInlineWrite)), gda::Status::kOk);
}

TEST_F(GpuProcesses, AKilledProcessEndsInRetryExceeded) {
  Here here(*other());
  ASSERT_EQ(here.run(here.job(What::kInlineWrite)), gda::Status::kOk);
  other()->kill();
  const auto start = util::now();
  EXPECT_EQ(here.run(here.job(What::kInlineWrite)), gda::Status::kRetryExceeded);
  EXPECT_LT(util::now() - start, 3s);
  other() = std::make_unique<OtherProcess>();
  Here again(*other());
  EXPECT_EQ(again.run(again.job(What::kInlineWrite)), gda::Status::kOk);
}

}  // namespace
}  // namespace marrow::cx7::test
