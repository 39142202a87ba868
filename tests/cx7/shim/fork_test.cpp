// SPDX-License-Identifier: Apache-2.0
// A child has no engine thread and must not touch what is the parent's; it may open devices of its own. Whatever a
// child closes, the parent keeps.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "cx7/shim/device_file_test.h"

namespace marrow::cx7 {
namespace {

/// Runs `body` in a forked child; true when it returned true within ten seconds.
template <class Body>
bool in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    ::_exit(body() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(DeviceFileTest, TheChildsCopyIsDefunct) {
  const int fd = open_device(0);
  EXPECT_TRUE(in_child([&] { return probe(fd) == EIO; }));
  EXPECT_TRUE(answers(fd));
  ::close(fd);
}

TEST_F(DeviceFileTest, TheChildMayCloseWithoutHarm) {
  const int fd = open_device(0);
  EXPECT_TRUE(in_child([&] { return ::close(fd) == 0 && probe(fd) == EBADF; }));
  EXPECT_TRUE(in_child([&] { return ::close_range(3, ~0u, 0) == 0; }));
  EXPECT_TRUE(answers(fd));
  EXPECT_EQ(living_devices(), 1);
  ::close(fd);
}

TEST_F(DeviceFileTest, TheChildMayOpenADeviceOfItsOwn) {
  const int fd = open_device(0);
  EXPECT_TRUE(in_child([] {
    const int own = open_device(1);
    return own >= 0 && answers(own) && ::close(own) == 0;
  }));
  EXPECT_TRUE(answers(fd));
  ::close(fd);
}

// Python's subprocess and many shells close everything between vfork() and exec(), in the parent's memory.
TEST_F(DeviceFileTest, AVforkChildThatClosesTakesNothingFromTheParent) {
  const int fd = open_device(0);
  const pid_t child = ::vfork();
  if (child == 0) {
    ::close(fd);
    ::execl("/bin/true", "true", nullptr);
    ::_exit(127);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(answers(fd));
  EXPECT_EQ(living_devices(), 1);
  ::close(fd);
}

/// What the next test starts: another program, with the descriptor that it inherited.
TEST_F(DeviceFileTest, DISABLED_AfterExec) {
  const char* const number = std::getenv("MARROW_TEST_INHERITED");
  ASSERT_NE(number, nullptr);
  const int inherited = std::atoi(number);
  EXPECT_EQ(probe(inherited), EIO) << "its engine is gone";
  const int own = open_device(1);
  EXPECT_TRUE(answers(own));
  EXPECT_EQ(probe(inherited), EIO) << "and another one is not its";
  ::close(own);
}

TEST_F(DeviceFileTest, AfterExecAnInheritedDeviceIsDefunct) {
  const int fd = ::open("/dev/infiniband/uverbs0", O_RDWR);
  ASSERT_GE(fd, 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::setenv("MARROW_TEST_INHERITED", std::to_string(fd).c_str(), 1);
    ::execl("/proc/self/exe", "after_exec", "--gtest_also_run_disabled_tests", "--gtest_filter=*DISABLED_AfterExec",
            nullptr);
    ::_exit(127);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(answers(fd));
  ::close(fd);
}

// The name that a process holds is a socket: a child that kept it would keep its dead parent's place.
TEST_F(DeviceFileTest, TheChildDoesNotKeepTheParentsSockets) {
  const int fd = open_device(0);
  const auto sockets = [] {
    int n = 0;
    for (int i = 3; i < 256; ++i) {
      std::array<char, 64> link{};
      const std::string path = "/proc/self/fd/" + std::to_string(i);
      if (::readlink(path.c_str(), link.data(), link.size() - 1) > 0) {
        n += std::string(link.data()).starts_with("socket:") ? 1 : 0;
      }
    }
    return n;
  };
  const int in_parent = sockets();
  EXPECT_GE(in_parent, 1);
  EXPECT_TRUE(in_child([&] { return sockets() < in_parent; }));
  ::close(fd);
}

TEST_F(DeviceFileTest, ForksAndControlCallsOfManyThreadsDoNotBlockEachOther) {
  const int fd = open_device(0);
  std::atomic<bool> stop{false};
  std::thread caller([&] {
    while (!stop) EXPECT_TRUE(answers(fd));
  });
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(in_child([&] { return probe(fd) == EIO; }));
  stop = true;
  caller.join();
  ::close(fd);
}

}  // namespace
}  // namespace marrow::cx7
