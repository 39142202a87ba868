// SPDX-License-Identifier: Apache-2.0
// Which paths are ours: a look-alike must go to the real machine, an odd spelling of ours must not.
#include "cx7/shim/path_map.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace marrow::cx7 {
namespace {

std::string tidied(std::string_view path) {
  std::array<char, 256> room{};
  return std::string(tidy_path(path, room).value_or("too long"));
}

bool is_ours(std::string_view path) {
  return is_in_tree(tidied(path));
}

TEST(PathMap, LeavesLookAlikesToTheRealMachine) {
  for (const char* path :
       {"/", "/sys/class", "/sys/class/infiniband_mad", "/sys/class/infiniband_verbsx/uverbs0",
        "/dev/infinibandX/uverbs0", "/dev/infini", "/dev", "/sys/bus/pci/devices", "/sys/bus/pci/devices/0000:01:00.0",
        "/sys/devices/pci0000:00", "sys/class/infiniband", "/tmp/sys/class/infiniband", "/proc/cpuinfo", ""}) {
    EXPECT_FALSE(is_ours(path)) << path;
  }
}

TEST(PathMap, TakesOverEverythingThatShowsAnRdmaDevice) {
  for (const char* path : {"/sys/class/infiniband", "/sys/class/infiniband/mlx5_sim0/ports/1/gids/0",
                           "/sys/class/infiniband_verbs/abi_version", "/dev/infiniband", "/dev/infiniband/uverbs7",
                           "/dev/infiniband/rdma_cm", "/sys/devices/pci4d52:00/4d52:00:01.0/4d52:01:00.0/vendor",
                           "/sys/bus/pci/devices/4d52:02:00.0/numa_node"}) {
    EXPECT_TRUE(is_ours(path)) << path;
  }
}

TEST(PathMap, OddSpellingsAreTheSamePath) {
  EXPECT_EQ(tidied("//sys///class/./infiniband/"), "/sys/class/infiniband");
  EXPECT_EQ(tidied("/dev/infiniband/."), "/dev/infiniband");
  EXPECT_EQ(tidied("/"), "/");
  EXPECT_EQ(tidied("/./"), "/");
  EXPECT_EQ(tidied("/a/..b/.c/d."), "/a/..b/.c/d.");
}

TEST(PathMap, APathThatDoesNotFitIsNobodys) {
  std::array<char, 8> room{};
  EXPECT_FALSE(tidy_path("/sys/class/infiniband", room));
  EXPECT_EQ(tidy_path("/abcdef", room), "/abcdef");
}

TEST(PathMap, OnlyExistingNodesAreDevices) {
  EXPECT_EQ(device_of_node("/dev/infiniband/uverbs0"), 0);
  EXPECT_EQ(device_of_node("/dev/infiniband/uverbs1"), 1);
  for (const char* path : {"/dev/infiniband", "/dev/infiniband/uverbs2", "/dev/infiniband/uverbs0/x",
                           "/dev/infiniband/uverbs", "/dev/uverbs0", "/sys/class/infiniband_verbs/uverbs0"}) {
    EXPECT_FALSE(device_of_node(path)) << path;
  }
}

TEST(PathMap, TheTreesPlaceIsTakenOffAndNothingElse) {
  EXPECT_EQ(without_tree("/usr/share/t", "/usr/share/t/sys/class"), "/sys/class");
  EXPECT_EQ(without_tree("/usr/share/t", "/usr/share/tree/sys"), "/usr/share/tree/sys");
  EXPECT_EQ(without_tree("/usr/share/t", "/usr/share/t"), "/usr/share/t");
  EXPECT_EQ(without_tree("", "/sys"), "/sys");
}

}  // namespace
}  // namespace marrow::cx7
