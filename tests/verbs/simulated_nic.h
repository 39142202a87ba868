// SPDX-License-Identifier: Apache-2.0
// Switches the software NIC on for a test program. Include it in one source file; libmarrow_cx7 must be linked first.
#pragma once

#include <gtest/gtest.h>

#include "cx7/shim/control.h"

namespace marrow::test {

class SimulatedNic : public ::testing::Environment {
 public:
  void SetUp() override { ASSERT_EQ(marrow_cx7_enable(), 0) << marrow_cx7_error(); }
};

inline ::testing::Environment* const simulated_nic = ::testing::AddGlobalTestEnvironment(new SimulatedNic);

}  // namespace marrow::test
