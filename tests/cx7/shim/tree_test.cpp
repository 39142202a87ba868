// SPDX-License-Identifier: Apache-2.0
// Switched on, a program finds two ConnectX-7 where it would look on a real machine, by every call it might use, and
// never learns where the tree really lies.
#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cx7/shim/control.h"

namespace {

using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr char kNode[] = "/dev/infiniband/uverbs1";
constexpr char kVerbs[] = "/sys/class/infiniband_verbs";

class Tree : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(marrow_cx7_enable(), 0) << marrow_cx7_error(); }
  void TearDown() override { marrow_cx7_disable(); }
};

std::string read_file(const std::string& path) {
  std::array<char, 256> text{};
  FILE* file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return "absent";
  const bool read = std::fgets(text.data(), text.size(), file) != nullptr;
  std::fclose(file);
  return read ? text.data() : "empty";
}

std::vector<std::string> names_in(const char* path) {
  std::vector<std::string> names;
  DIR* directory = ::opendir(path);
  if (directory == nullptr) return {"absent"};
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  ::closedir(directory);
  return names;
}

TEST_F(Tree, ThereIsNoThirdDevice) {
  EXPECT_EQ(::open("/dev/infiniband/uverbs2", O_RDWR), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(::access("/dev/infiniband/rdma_cm", F_OK), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(::open(kNode, O_RDONLY | O_DIRECTORY), -1);
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_EQ(::access(kNode, X_OK), -1);
  EXPECT_EQ(errno, EACCES);
}

TEST_F(Tree, RdmaNetlinkIsNotSupportedSoThatSysfsIsRead) {
  EXPECT_EQ(::socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA), -1);
  EXPECT_EQ(errno, EPROTONOSUPPORT);
}

TEST_F(Tree, ListsBothDevicesAndNoOther) {
  EXPECT_THAT(names_in("/sys/class/infiniband"), UnorderedElementsAre("mlx5_sim0", "mlx5_sim1"));
  EXPECT_THAT(names_in(kVerbs), UnorderedElementsAre("abi_version", "uverbs0", "uverbs1"));
  EXPECT_THAT(names_in("/dev/infiniband"), UnorderedElementsAre("uverbs0", "uverbs1"));
  dirent** list = nullptr;
  const int n = ::scandir("/sys/class/infiniband", &list, nullptr, nullptr);
  EXPECT_EQ(n, 4);  // with . and ..
  for (int i = 0; i < n; ++i) std::free(list[i]);
  std::free(list);
}

TEST_F(Tree, SaysWhatLibibverbsAsks) {
  const std::string device = "/sys/class/infiniband/mlx5_sim1/";
  EXPECT_EQ(read_file("/sys/class/infiniband_verbs/abi_version"), "6\n");
  EXPECT_EQ(read_file("/sys/class/infiniband_verbs/uverbs1/ibdev"), "mlx5_sim1\n");
  EXPECT_EQ(read_file("/sys/class/infiniband_verbs/uverbs1/dev"), "231:193\n");
  EXPECT_EQ(read_file("/sys/class/infiniband_verbs/uverbs1/abi_version"), "1\n");
  EXPECT_EQ(read_file(device + "node_type"), "1: CA\n");
  EXPECT_EQ(read_file(device + "node_guid"), "b8ce:f603:00aa:0002\n");
  EXPECT_THAT(read_file(device + "device/modalias"), StartsWith("pci:v000015B3d00001021sv"));
  EXPECT_EQ(read_file(device + "ports/1/gids/0"), "fe80:0000:0000:0000:b8ce:f603:00aa:0002\n");
  EXPECT_EQ(read_file(device + "ports/1/pkeys/0"), "0xffff\n");
}

TEST_F(Tree, CountersThatWouldNotBeTrueAreAbsentAndNoneCanBeWritten) {
  const std::string port = "/sys/class/infiniband/mlx5_sim0/ports/1/";
  EXPECT_EQ(read_file(port + "counters/symbol_error"), "absent");
  EXPECT_EQ(read_file(port + "hw_counters/np_cnp_sent"), "absent");
  EXPECT_EQ(::open((port + "counters/port_xmit_data").c_str(), O_RDWR), -1);
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(std::fopen((port + "hw_counters/out_of_sequence").c_str(), "r+"), nullptr);
  EXPECT_EQ(errno, EACCES);
}

TEST_F(Tree, CountersAreNumbersByWhateverPath) {
  const std::string port = "/sys/class/infiniband/mlx5_sim0/ports/1";
  EXPECT_EQ(read_file(port + "/counters/port_xmit_data"), "0\n");
  EXPECT_EQ(
      read_file("/sys/class/infiniband/mlx5_sim1/device/infiniband/mlx5_sim1/ports/1/hw_counters/rx_read_requests"),
      "0\n");
  const int directory = ::open((port + "/counters").c_str(), O_RDONLY | O_DIRECTORY);
  const int file = ::openat(directory, "port_rcv_packets", O_RDONLY);
  std::array<char, 32> text{};
  EXPECT_EQ(::read(file, text.data(), text.size()), 2);
  EXPECT_STREQ(text.data(), "0\n");
  for (const int fd : {file, directory}) ::close(fd);
}

TEST_F(Tree, WorksBelowADirectoryDescriptor) {
  const int verbs = ::open(kVerbs, O_RDONLY | O_DIRECTORY);
  ASSERT_GE(verbs, 0);
  const int device = ::openat(verbs, "uverbs0", O_RDONLY | O_DIRECTORY);
  ASSERT_GE(device, 0);
  const int file = ::openat(device, "ibdev", O_RDONLY);
  std::array<char, 32> text{};
  EXPECT_EQ(::read(file, text.data(), text.size()), 10);
  EXPECT_STREQ(text.data(), "mlx5_sim0\n");
  for (const int fd : {file, device, verbs}) ::close(fd);
}

TEST_F(Tree, NodesAreCharacterDevicesHoweverAsked) {
  struct stat status {};
  const auto check = [&] {
    EXPECT_TRUE(S_ISCHR(status.st_mode));
    EXPECT_EQ(status.st_rdev, makedev(231, 193));
    EXPECT_EQ(status.st_size, 0);
    status = {};
  };
  ASSERT_EQ(::stat(kNode, &status), 0);
  check();
  ASSERT_EQ(::lstat("/dev//infiniband/./uverbs1", &status), 0);
  check();
  ASSERT_EQ(::fstatat(AT_FDCWD, kNode, &status, 0), 0);
  check();
  const int nodes = ::open("/dev/infiniband", O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::fstatat(nodes, "uverbs1", &status, 0), 0);
  check();
  ::close(nodes);
  struct statx extended {};
  ASSERT_EQ(::statx(AT_FDCWD, kNode, 0, STATX_BASIC_STATS, &extended), 0);
  EXPECT_TRUE(S_ISCHR(extended.stx_mode));
  EXPECT_EQ(extended.stx_rdev_major, 231u);
  EXPECT_EQ(extended.stx_rdev_minor, 193u);
}

TEST_F(Tree, NeverShowsWhereItLies) {
  std::array<char, PATH_MAX> text{};
  ASSERT_NE(::realpath("/sys/class/infiniband/mlx5_sim0/device", text.data()), nullptr);
  EXPECT_STREQ(text.data(), "/sys/devices/pci4d52:00/4d52:00:01.0/4d52:01:00.0");
  ASSERT_NE(::realpath("/sys/bus/pci/devices/4d52:02:00.0/infiniband/mlx5_sim1", text.data()), nullptr);
  EXPECT_STREQ(text.data(), "/sys/devices/pci4d52:00/4d52:00:02.0/4d52:02:00.0/infiniband/mlx5_sim1");
  const int directory = ::open("/sys/class/infiniband", O_RDONLY | O_DIRECTORY);
  text = {};
  const std::string link = "/proc/self/fd/" + std::to_string(directory);
  ASSERT_GT(::readlink(link.c_str(), text.data(), text.size()), 0);
  EXPECT_STREQ(text.data(), "/sys/class/infiniband");
  ::close(directory);
}

TEST_F(Tree, ASystemCallByNumberFindsItToo) {
  const long fd = ::syscall(SYS_openat, AT_FDCWD, "/sys/class/infiniband/mlx5_sim0/fw_ver", O_RDONLY, 0);
  EXPECT_GE(fd, 0);
  ::close(static_cast<int>(fd));
}

}  // namespace
