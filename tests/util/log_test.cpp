// SPDX-License-Identifier: Apache-2.0
// Log lines go to stderr, whole, once where asked, and also from a child forked while another thread was logging.
#include "util/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

namespace marrow::util {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Ran before main(): had the log not been ready then, this program would have died before its first test.
const bool kAskedBeforeMain = log::first_time("before main");

class Log : public testing::Test {
 protected:
  void SetUp() override { log::set_level(log::Level::kWarn); }
  template <typename Body>
  static std::string stderr_of(Body body) {
    testing::internal::CaptureStderr();
    body();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(Log, KeepsQuietBelowItsLevel) {
  EXPECT_THAT(stderr_of([] { log::info("not shown {}", 1); }), IsEmpty());
  log::set_level(log::Level::kOff);
  EXPECT_THAT(stderr_of([] { log::error("not shown {}", 1); }), IsEmpty());
}

TEST_F(Log, WritesOneLineWithPidAndLevel) {
  const std::string text = stderr_of([] { log::warn("opcode {:#x} refused", 0x99); });
  EXPECT_EQ(text, "marrow[" + std::to_string(::getpid()) + "] warning: opcode 0x99 refused\n");
}

TEST_F(Log, WritesBracesInTextAsTheyAre) {
  EXPECT_THAT(stderr_of([] { log::warn("{}", "{not a format}"); }), HasSubstr("warning: {not a format}\n"));
}

TEST_F(Log, WarnsOncePerKey) {
  const std::string text = stderr_of([] {
    EXPECT_TRUE(log::once("CREATE_RMP", "command {} is not modelled", "CREATE_RMP"));
    EXPECT_FALSE(log::once("CREATE_RMP", "command {} is not modelled", "CREATE_RMP"));
    EXPECT_TRUE(log::once("CREATE_XRQ", "command {} is not modelled", "CREATE_XRQ"));
  });
  EXPECT_THAT(text, HasSubstr("CREATE_RMP"));
  EXPECT_EQ(text.find("CREATE_RMP"), text.rfind("CREATE_RMP"));
  EXPECT_THAT(text, HasSubstr("CREATE_XRQ"));
}

TEST_F(Log, WorksBeforeMain) {
  EXPECT_TRUE(kAskedBeforeMain);
  EXPECT_FALSE(log::first_time("before main"));
}

TEST_F(Log, AChildForkedWhileOthersLogDoesNotHang) {
  std::atomic<bool> stop = false;
  testing::internal::CaptureStderr();
  std::thread busy([&stop] {
    while (!stop) log::warn("busy");
  });
  for (int i = 0; i < 50; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(10);  // a child that hangs dies of this and fails the test
      log::warn("child");
      ::_exit(log::first_time("asked by the child") ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }
  stop = true;
  busy.join();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("child"));
}

}  // namespace
}  // namespace marrow::util
