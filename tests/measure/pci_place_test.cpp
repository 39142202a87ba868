// SPDX-License-Identifier: Apache-2.0
// Places and distances on an imaginary machine that hwloc reads from a file; what is not there is said to be so.
#include "measure/pci_place.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace marrow::measure {
namespace {

class PciPlace : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("HWLOC_XMLFILE", TWO_PACKAGES, 1); }
};

constexpr const char* kGpu = "0000:11:00.0";

TEST_F(PciPlace, OfNoDeviceIsEmptyAndOfAnUnknownOneSaysSo) {
  EXPECT_EQ(place_of("", ""), "");
  EXPECT_EQ(place_of(kGpu, "0000:55:00.0"),
            "GPU 0000:11:00.0 at NUMA node 0, NIC 0000:55:00.0 not shown by this machine");
  EXPECT_EQ(place_of("", "0000:90:00.0"), "NIC 0000:90:00.0 at NUMA node 1");
}

TEST_F(PciPlace, TellsWhatLiesBetweenGpuAndNic) {
  EXPECT_EQ(place_of(kGpu, "0000:12:00.0"),
            "GPU 0000:11:00.0 at NUMA node 0, NIC 0000:12:00.0 at NUMA node 0, under one PCIe switch");
  EXPECT_EQ(place_of(kGpu, "0000:20:00.0"),
            "GPU 0000:11:00.0 at NUMA node 0, NIC 0000:20:00.0 at NUMA node 0, under one host bridge");
  EXPECT_EQ(place_of(kGpu, "0000:90:00.0"),
            "GPU 0000:11:00.0 at NUMA node 0, NIC 0000:90:00.0 at NUMA node 1, across CPU packages");
}

}  // namespace
}  // namespace marrow::measure
