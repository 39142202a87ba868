// SPDX-License-Identifier: Apache-2.0
// NVML as a stand-in tells it: what is not there is a sentence, what is not told is empty, and a locked clock is given
// back however its process ends.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "gpu/clock_keeper.h"
#include "gpu/watch.h"
#include "util/error.h"

namespace marrow::gpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kGpu = "ffff:19:00.0";

class NvmlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("MARROW_NVML", FAKE_NVML, 1);  // never the real one: it would lock a real clock
    log_ = std::filesystem::temp_directory_path() / ("marrow_nvml_" + std::to_string(::getpid()));
    std::filesystem::remove(log_);
    ::setenv("FAKE_NVML_LOG", log_.c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove(log_);
    for (const auto* name : {"FAKE_NVML_RIGHTS", "FAKE_NVML_REASONS"}) ::unsetenv(name);
  }
  /// What was locked and reset, in order.
  [[nodiscard]] std::vector<std::string> log() const {
    std::ifstream file(log_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

 private:
  std::filesystem::path log_;
};

util::Error error_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const util::Error& problem) {
    return problem;
  }
  return util::Error("nothing was thrown");
}

using NvmlRefuses = NvmlTest;

TEST_F(NvmlRefuses, AGpuThatItDoesNotKnow) {
  const auto problem = error_of([] { (void)Nvml("ffff:99:00.0"); });
  EXPECT_EQ(problem.kind(), util::ErrorKind::kWaived);
  EXPECT_THAT(problem.what(), HasSubstr("does not know the GPU at ffff:99:00.0: Not Found"));
}

TEST_F(NvmlRefuses, ToLockForAUserWhoMayNotAndSaysWhatWouldHelp) {
  ::setenv("FAKE_NVML_RIGHTS", "no", 1);
  ClockKeeper keeper;
  const Nvml gpu(kGpu);
  {
    ClockLock lock(keeper, gpu);
    const auto problem = error_of([&] { lock.set(1500); });
    EXPECT_EQ(problem.kind(), util::ErrorKind::kWaived);
    EXPECT_THAT(problem.what(), HasSubstr("lock the SM clock of the GPU at ffff:19:00.0 to 1500 MHz: Insufficient"));
    EXPECT_THAT(problem.hint(), HasSubstr("root"));
  }
  EXPECT_TRUE(keeper.finish());  // nothing was locked, so nothing is to be given back
  EXPECT_THAT(log(), ElementsAre());
}

TEST_F(NvmlTest, TellsWhatTheLibraryTellsAndLeavesEmptyWhatItDoesNot) {
  const Nvml gpu(kGpu);
  const auto facts = gpu.facts();
  EXPECT_EQ(facts.name, "Imaginary GPU");
  EXPECT_THAT(facts.uuid, HasSubstr("GPU-"));
  EXPECT_EQ(facts.driver, "580.95.05");
  EXPECT_EQ(facts.most_sm_mhz, 1980U);
  EXPECT_EQ(facts.power_limit_w, 700.0);
  const auto look = gpu.look();
  EXPECT_EQ(look.sm_mhz, 1980U);
  EXPECT_EQ(look.memory_mhz, 3201U);
  EXPECT_EQ(look.power_w, 120.5);
  EXPECT_FALSE(look.temperature_c.has_value());
}

TEST_F(NvmlTest, NamesWhatSlowsAndNotIdlenessOrAUsersSetting) {
  EXPECT_THAT(slowing(0x03), ElementsAre());
  EXPECT_THAT(slowing(0x44), ElementsAre("software power cap", "hardware thermal slowdown"));
}

TEST_F(NvmlTest, SupportedClocksBeginWithTheHighest) {
  const auto clocks = Nvml(kGpu).sm_clocks();
  EXPECT_EQ(clocks.front(), 1980U);
  EXPECT_EQ(clocks.back(), 345U);
}

TEST_F(NvmlTest, AWatchLooksBeforeWhileAndAfter) {
  Watch watch(kGpu, std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_GE(watch.finish().size(), 3U);
}

TEST_F(NvmlTest, ALockEndsWithItsObject) {
  ClockKeeper keeper;
  const Nvml gpu(kGpu);
  {
    ClockLock lock(keeper, gpu);
    lock.set(1500);
    lock.set(600);
  }
  EXPECT_TRUE(keeper.finish());
  EXPECT_THAT(log(), ElementsAre("lock 1500", "lock 600", "reset"));
}

TEST_F(NvmlTest, AKilledProcessLeavesNoClockLocked) {
  ClockKeeper keeper;
  const auto child = ::fork();
  if (child == 0) {
    const Nvml gpu(kGpu);
    ClockLock lock(keeper, gpu);
    lock.set(600);
    (void)::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(keeper.finish());
  EXPECT_THAT(log(), ElementsAre("lock 600", "reset"));
}

}  // namespace
}  // namespace marrow::gpu
