// SPDX-License-Identifier: Apache-2.0
// Switched off, or asked about something that is not ours, every hook is as if it were not there: result, errno and
// all.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string>

#include "cx7/shim/control.h"

namespace {

/// Both ways: what is not ours must not depend on the switch.
class PassThrough : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    marrow_cx7_disable();
    if (!GetParam()) return;
    ASSERT_EQ(marrow_cx7_enable(), 0) << marrow_cx7_error();
  }
  void TearDown() override { marrow_cx7_disable(); }
};

INSTANTIATE_TEST_SUITE_P(OffAndOn, PassThrough, ::testing::Bool(),
                         [](const auto& which) { return which.param ? "On" : "Off"; });

TEST_P(PassThrough, ErrorsAreTheKernels) {
  struct stat status {};
  EXPECT_EQ(::open("/dev/nonesuch", O_RDONLY), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(::close(-1), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(::fstat(9999, &status), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(::dup(9999), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(::stat("/sys/nonesuch", &status), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(::opendir("/dev/nonesuch"), nullptr);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(::realpath("/sys/nonesuch", nullptr), nullptr);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(::access("/dev/null", X_OK), -1);
  EXPECT_EQ(errno, EACCES);
}

TEST_P(PassThrough, SuccessLeavesErrnoAlone) {
  errno = 12345;
  struct stat status {};
  const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  EXPECT_EQ(::fstat(copy, &status), 0);
  EXPECT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_EQ(::close(copy), 0);
  EXPECT_EQ(::close(fd), 0);
  EXPECT_EQ(errno, 12345);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST_P(PassThrough, AVerbsIoctlOnSomethingElseIsRefusedAsByTheKernel) {
  const int fd = ::open("/dev/null", O_RDWR);
  EXPECT_EQ(::ioctl(fd, RDMA_VERBS_IOCTL, nullptr), -1);
  EXPECT_EQ(errno, ENOTTY);
  EXPECT_EQ(::syscall(SYS_ioctl, fd, RDMA_VERBS_IOCTL, nullptr), -1);
  EXPECT_EQ(errno, ENOTTY);
  ::close(fd);
}

TEST_P(PassThrough, ANewFilesModeArrives) {
  const std::string path = ::testing::TempDir() + "marrow_shim_mode_" + std::to_string(::getpid());
  const mode_t before = ::umask(0);
  const int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_EXCL, 0614);
  ::umask(before);
  ASSERT_GE(fd, 0);
  struct stat status {};
  EXPECT_EQ(::fstat(fd, &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0614u);
  EXPECT_TRUE(S_ISREG(status.st_mode));
  ::close(fd);
  ::unlink(path.c_str());
}

TEST_P(PassThrough, SystemCallsByNumberGetAllSixArguments) {
  EXPECT_EQ(::syscall(SYS_getpid), ::getpid());
  const long at = ::syscall(SYS_mmap, nullptr, 4096L, 0L, 0x22L, -1L, 0L);
  ASSERT_NE(at, -1);
  EXPECT_EQ(::syscall(SYS_munmap, at, 4096L), 0);
  const long fd = ::syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY, 0);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(::close(static_cast<int>(fd)), 0);
}

TEST_P(PassThrough, OtherSocketsOpen) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_GE(fd, 0);
  ::close(fd);
}

TEST_P(PassThrough, ALinkIsCutToTheCallersRoom) {
  const std::string path = ::testing::TempDir() + "marrow_shim_link_" + std::to_string(::getpid());
  ASSERT_EQ(::symlink("abcdefgh", path.c_str()), 0);
  std::array<char, 16> text{};
  EXPECT_EQ(::readlink(path.c_str(), text.data(), 3), 3);
  EXPECT_STREQ(text.data(), "abc");
  EXPECT_EQ(::readlink(path.c_str(), text.data(), text.size()), 8);
  ::unlink(path.c_str());
}

void handler_one(int) {}
void handler_two(int) {}

TEST_P(PassThrough, HandlersOfFaultsAreGivenBack) {
  for (const int number : {SIGSEGV, SIGBUS, SIGUSR1}) {
    struct sigaction original {};
    ASSERT_EQ(::sigaction(number, nullptr, &original), 0);
    EXPECT_NE(::signal(number, handler_one), SIG_ERR);
    EXPECT_EQ(::signal(number, handler_two), handler_one);
    struct sigaction now {};
    EXPECT_EQ(::sigaction(number, &original, &now), 0);
    EXPECT_EQ(now.sa_handler, handler_two);
  }
}

TEST(SwitchedOff, DeviceNodesAreTheRealMachines) {
  marrow_cx7_disable();
  struct stat status {};
  EXPECT_EQ(::stat("/sys/class/infiniband/mlx5_sim0", &status), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(::stat("/sys/bus/pci/devices/4d52:01:00.0", &status), -1);
  EXPECT_EQ(marrow_cx7_is_enabled(), 0);
}

}  // namespace
