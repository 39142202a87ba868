// SPDX-License-Identifier: Apache-2.0
// A device's descriptor lives like any other: duplicated, passed on, replaced, closed. The device behind it goes with
// the last one, and not before.
#include "cx7/shim/device_file_test.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

namespace marrow::cx7 {
namespace {

TEST_F(DeviceFileTest, IsACharacterDeviceWithTheNodesNumber) {
  const int fd = open_device(0);
  struct stat status {};
  ASSERT_EQ(::fstat(fd, &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  EXPECT_EQ(status.st_rdev, makedev(231, 192));
  struct statx extended {};
  ASSERT_EQ(::statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &extended), 0);
  EXPECT_TRUE(S_ISCHR(extended.stx_mode));
  ::close(fd);
}

// The older way to give commands: refused, not swallowed. Nor can the file be cut under the engine's mapping.
TEST_F(DeviceFileTest, RefusesCommandsByWrite) {
  const int fd = open_device(0);
  const std::array<char, 64> command{};
  EXPECT_EQ(::write(fd, command.data(), command.size()), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::pwrite(fd, command.data(), command.size(), 4096), -1);
  EXPECT_EQ(::ftruncate(fd, 0), -1);
  EXPECT_TRUE(answers(fd));
  ::close(fd);
}

TEST_F(DeviceFileTest, KeepsTheCloseOnExecFlagThatWasAsked) {
  const int with = ::open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
  const int without = ::open("/dev/infiniband/uverbs0", O_RDWR);
  EXPECT_EQ(::fcntl(with, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(::fcntl(without, F_GETFD), 0);
  ::close(with);
  ::close(without);
}

TEST_F(DeviceFileTest, ClosingTheOnlyDescriptorEndsTheDevice) {
  const int fd = open_device(1);
  EXPECT_EQ(living_devices(), 1);
  EXPECT_TRUE(answers(fd));
  EXPECT_EQ(::close(fd), 0);
  EXPECT_EQ(living_devices(), 0);
  EXPECT_EQ(::close(fd), -1);
}

TEST_F(DeviceFileTest, LivesUntilTheLastDuplicateIsClosed) {
  const int first = open_device(0);
  std::vector<int> copies = {::dup(first), ::fcntl(first, F_DUPFD_CLOEXEC, 40), ::dup3(first, 60, O_CLOEXEC)};
  ::close(first);
  for (const int copy : copies) {
    EXPECT_EQ(living_devices(), 1);
    EXPECT_TRUE(answers(copy)) << copy;
    ::close(copy);
  }
  EXPECT_EQ(living_devices(), 0);
}

TEST_F(DeviceFileTest, ReplacingADescriptorEndsWhatItWas) {
  const int device = open_device(0);
  const int null = ::open("/dev/null", O_RDWR);
  EXPECT_EQ(::dup2(null, device), device);
  EXPECT_EQ(living_devices(), 0);
  EXPECT_FALSE(answers(device));
  ::close(device);
  const int other = open_device(1);
  EXPECT_EQ(::dup2(other, null), null);
  ::close(other);
  EXPECT_EQ(living_devices(), 1);
  EXPECT_EQ(::dup2(null, null), null);  // onto itself: nothing happens
  EXPECT_TRUE(answers(null));
  ::close(null);
  EXPECT_EQ(living_devices(), 0);
}

TEST_F(DeviceFileTest, ARangeOfDescriptorsEndsTheDevicesInIt) {
  const int fd = open_device(0);
  const int high = ::fcntl(fd, F_DUPFD, 500);
  const int null = ::fcntl(::fileno(stderr), F_DUPFD, 501);
  EXPECT_EQ(::close_range(500, 600, 1u << 2), 0);  // only marks them
  EXPECT_TRUE(answers(high));
  EXPECT_EQ(::close_range(500, 600, 0), 0);
  EXPECT_EQ(::fcntl(null, F_GETFD), -1);
  EXPECT_FALSE(answers(high));
  EXPECT_TRUE(answers(fd));
  ::close(fd);
  EXPECT_EQ(living_devices(), 0);
}

TEST_F(DeviceFileTest, IsRecognisedWhenItComesOverASocket) {
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
  const int fd = open_device(1);
  ASSERT_TRUE(send_descriptor(pair[0], fd));
  const int arrived = receive_descriptor(pair[1]);
  ASSERT_GE(arrived, 0);
  EXPECT_TRUE(answers(arrived));
  ::close(fd);
  EXPECT_TRUE(answers(arrived));
  ::close(arrived);
  EXPECT_EQ(living_devices(), 0);
  ::close(pair[0]);
  ::close(pair[1]);
}

TEST_F(DeviceFileTest, EachOpenIsADeviceOfItsOwn) {
  const int a = open_device(0);
  const int b = open_device(0);
  EXPECT_EQ(living_devices(), 2);
  ::close(a);
  EXPECT_TRUE(answers(b));
  EXPECT_EQ(living_devices(), 1);
  ::close(b);
}

TEST_F(DeviceFileTest, StaysADeviceWhenTheHooksAreSwitchedOff) {
  const int fd = open_device(0);
  marrow_cx7_disable();
  EXPECT_TRUE(answers(fd));
  struct stat status {};
  EXPECT_EQ(::fstat(fd, &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  ::close(fd);
  EXPECT_EQ(living_devices(), 0);
}

TEST_F(DeviceFileTest, ManyThreadsMayOpenAndCloseAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 50; ++i) {
        const int fd = open_device(t % 2);
        const int copy = ::dup(fd);
        EXPECT_TRUE(answers(copy));
        ::close(fd);
        EXPECT_TRUE(answers(copy));
        ::close(copy);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(living_devices(), 0);
}

}  // namespace
}  // namespace marrow::cx7
