// SPDX-License-Identifier: Apache-2.0
// A GPU as the host sees it: refusals, memory, clocks, and that no launch keeps the caller for ever.
#include "gpu/launch.h"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

#include "gpu/gpu_main.h"
#include "gpu/memory.h"
#include "gpu/test_kernels.h"
#include "util/clock.h"
#include "util/error.h"

namespace marrow::gpu {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::SpinJob;
using ::testing::HasSubstr;

TEST(Open, AnIndexThatIsNotThereIsRefusedWithTheOnesThatAre) {
  try {
    (void)open(999);
    FAIL();
  } catch (const util::Error& problem) {
    EXPECT_EQ(problem.kind(), util::ErrorKind::kUsage);
    EXPECT_THAT(problem.what(), HasSubstr("no GPU 999 here"));
    EXPECT_FALSE(problem.hint().empty());
  }
}

TEST(Open, TellsTheGpuAndItsClocks) {
  const auto& facts = test::the_gpu()->facts();
  EXPECT_GE(facts.major, 9);
  EXPECT_GT(facts.clocks.sm_mhz, 100);
  EXPECT_LT(facts.clocks.sm_mhz, 5000);
  EXPECT_GE(facts.clocks.globaltimer_step_ns, 1);
  EXPECT_LE(facts.clocks.globaltimer_step_ns, 2000);
  EXPECT_THAT(test::the_gpu()->describe(), HasSubstr("GPU 0, "));
}

TEST(Memory, OfGpuAndHostIsZeroedAlignedAndCanBeFilledWrittenAndRead) {
  auto& device = *test::the_gpu();
  for (const auto& source : {gpu_source(device), pinned_source(device)}) {
    const auto memory = source(100'000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % verbs::Memory::kAlign, 0U) << memory->kind();
    EXPECT_EQ(memory->bytes(), 2 * verbs::Memory::kAlign);
    std::vector<std::byte> seen(memory->bytes(), std::byte{1});
    memory->read(0, seen);
    EXPECT_EQ(seen, std::vector<std::byte>(memory->bytes()));
    memory->fill(std::byte{0xff});
    const std::byte three[3]{std::byte{1}, std::byte{2}, std::byte{3}};
    memory->write(memory->bytes() - 3, three);
    memory->read(0, seen);
    EXPECT_EQ(seen.front(), std::byte{0xff});
    EXPECT_EQ(std::memcmp(seen.data() + seen.size() - 3, three, 3), 0);
  }
}

TEST(Launch, AKernelThatEndsIsWaitedFor) {
  auto& device = *test::the_gpu();
  const Array<std::uint64_t> ended(device, 1);
  run(device, test::spin_kernel(), {}, SpinJob{.ns = 5'000'000, .ended = ended.data()}, {.limit = seconds(5)});
  EXPECT_EQ(ended.read().front(), 2U);
}

TEST(Launch, TheStopWordEndsAKernelThatLooksAtItWhenTheTimeIsOver) {
  auto& device = *test::the_gpu();
  StopWord word(device);
  const Array<std::uint64_t> ended(device, 1);
  const SpinJob job{.ns = 20'000'000'000, .stop = word.word(), .ended = ended.data()};
  const auto start = util::now();
  run(device, test::spin_kernel(), {}, job, {.limit = milliseconds(50), .word = &word});
  EXPECT_LT(util::now() - start, seconds(1));
  EXPECT_EQ(ended.read().front(), 1U);
  EXPECT_FALSE(device.broken());
}

TEST(Launch, TheRunsOwnStopEndsItToo) {
  auto& device = *test::the_gpu();
  StopWord word(device);
  const Array<std::uint64_t> ended(device, 1);
  const std::atomic<bool> stop{true};
  const SpinJob job{.ns = 20'000'000'000, .stop = word.word(), .ended = ended.data()};
  run(device, test::spin_kernel(), {}, job, {.limit = seconds(30), .stop = &stop, .word = &word});
  EXPECT_EQ(ended.read().front(), 1U);
}

TEST(Launch, AKernelHasRegistersAndRoomOnAnSm) {
  const auto facts = facts_of(*test::the_gpu(), test::spin_kernel());
  EXPECT_GT(facts.registers, 0);
  EXPECT_EQ(facts.local_bytes, 0U);
  EXPECT_GT(facts.blocks_per_sm, 0);
}

/// Last: the device is broken afterwards.
TEST(ZLaunch, AKernelThatIgnoresEverythingIsGivenUpAndTheDeviceWithIt) {
  auto& device = *test::the_gpu();
  const Array<std::uint64_t> ended(device, 1);
  const SpinJob job{.ns = 4'000'000'000, .ended = ended.data()};
  const auto start = util::now();
  EXPECT_THROW(run(device, test::spin_kernel(), {}, job, {.limit = milliseconds(50)}), util::Error);
  EXPECT_LT(util::now() - start, seconds(2));
  EXPECT_TRUE(device.broken());
  EXPECT_THROW((void)gpu_memory(device, 64), util::Error);
}

}  // namespace
}  // namespace marrow::gpu
