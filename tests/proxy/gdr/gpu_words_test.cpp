// SPDX-License-Identifier: Apache-2.0
// Completion words in GPU memory: what is said where GDRCopy is not installed or does not work, and, with a stand-in
// for its library, that a lane sees completions through the mapping and that nothing stays behind.
#include "proxy/gpu_words.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "proxy/one_worker.h"
#include "proxy/quiet_nic.h"

namespace marrow::proxy::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

int (*open_handles())() {
  static void* const library = ::dlopen("libgdrapi.so.2", RTLD_NOW);
  void* const found = library == nullptr ? nullptr : ::dlsym(library, "marrow_test_gdr_open_handles");
  return reinterpret_cast<int (*)()>(found);
}

TEST(GpuWords, SaysThatGdrCopyIsMissingAndMapsNothing) {
  if (::dlopen("libgdrapi.so.2", RTLD_NOW) != nullptr) GTEST_SKIP() << "it is installed here";
  const verbs::HostBuffer memory(64);
  const GpuWords words(memory);
  EXPECT_EQ(words.data(), nullptr);
  EXPECT_EQ(words.why_not(), "host counter: GDRCopy is not installed (no libgdrapi.so.2)");
}

class StandIn : public ::testing::Test {
 protected:
  void SetUp() override {
    if (open_handles() == nullptr) GTEST_SKIP() << "without the stand-in for GDRCopy";
  }
  void TearDown() override { ::unsetenv("MARROW_TEST_GDR"); }
  verbs::HostBuffer memory_{64};
};

TEST_F(StandIn, EachCallThatFailsIsNamedAndUndone) {
  const std::pair<const char*, const char*> cases[] = {{"gdr_open", "driver gdrdrv does not answer"},
                                                       {"gdr_pin_buffer", "could not pin host memory (error 22)"},
                                                       {"gdr_map", "could not map host memory (error 12)"}};
  for (const auto& [call, says] : cases) {
    ::setenv("MARROW_TEST_GDR", call, 1);
    const GpuWords words(memory_);
    EXPECT_EQ(words.data(), nullptr);
    EXPECT_THAT(words.why_not(), StartsWith("host counter: "));
    EXPECT_THAT(words.why_not(), HasSubstr(says));
    EXPECT_EQ(open_handles()(), 0);
  }
}

TEST_F(StandIn, ALaneSeesCompletionsThroughTheMapping) {
  {
    const GpuWords words(memory_);
    ASSERT_NE(words.data(), nullptr) << words.why_not();
    EXPECT_EQ(open_handles()(), 2);
    QuietNic nic;
    TestRing<Tuned> ring(16);
    auto of_worker = ring.ring(), of_lane = ring.ring();
    of_worker.done = reinterpret_cast<std::uint64_t*>(words.data());
    of_lane.done = reinterpret_cast<std::uint64_t*>(memory_.data());
    const WorkersOptions options;
    Worker<Tuned> worker({.options = options,
                          .routes = nic.table,
                          .number = 0,
                          .rings = {{.ring = of_worker, .counter = CounterPlace::kGpu}}});
    Producer<Tuned> lane(of_lane);
    const auto ticket = lane.put(put_at(0));
    worker.round();
    worker.round();
    EXPECT_EQ(lane.wait(ticket), gda::Status::kOk);
    EXPECT_EQ(Progress::from_word(*ring.ring().done).completed, 0u) << "the ring's own word is not used";
  }
  EXPECT_EQ(open_handles()(), 0);
}

}  // namespace
}  // namespace marrow::proxy::testing
