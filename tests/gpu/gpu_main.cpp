// SPDX-License-Identifier: Apache-2.0
// main() of the tests that need a GPU: without one they are waived with the reason.
#include "gpu/gpu_main.h"

#include <gmock/gmock.h>

#include <cstdio>

#include "util/error.h"

namespace marrow::test {
namespace {

std::shared_ptr<gpu::Device>& first_gpu() {
  static std::shared_ptr<gpu::Device> device;
  return device;
}

}  // namespace

const std::shared_ptr<gpu::Device>& the_gpu() {
  return first_gpu();
}

}  // namespace marrow::test

int main(int argc, char** argv) {
  constexpr int kWaived = 77;
  ::testing::InitGoogleMock(&argc, argv);
  try {
    marrow::test::first_gpu() = marrow::gpu::open(0);
  } catch (const marrow::util::Error& problem) {
    std::fprintf(stderr, "waived: %s\n", problem.what());
    return kWaived;
  }
  const int result = RUN_ALL_TESTS();
  marrow::test::first_gpu().reset();
  return result;
}
