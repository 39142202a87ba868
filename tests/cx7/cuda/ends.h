// SPDX-License-Identifier: Apache-2.0
// Two connected queue pairs whose queues and payload lie in GPU memory, and the fixture that waives without a GPU.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "cx7/shim/control.h"
#include "gpu/doorbell.h"
#include "gpu/memory.h"
#include "lanes.h"
#include "util/error.h"
#include "verbs/endpoint.h"

namespace marrow::cx7::test {

inline std::shared_ptr<gpu::Device> the_gpu() {
  static const auto device = [] {
    EXPECT_EQ(marrow_cx7_enable(), 0) << marrow_cx7_error();
    return gpu::open(0);
  }();
  return device;
}

inline constexpr std::size_t kBufferBytes = 4u << 20;

/// Two connected ends whose queues and payload lie in GPU memory.
struct Ends {
  explicit Ends(const verbs::DevxQpOptions& chosen = {}, const verbs::MemorySource& queues = {})
      : gpu(*the_gpu()),
        pair(make(gpu, chosen, queues ? queues : gpu::gpu_source(gpu))),
        result(gpu, 1),
        doorbell(gpu, pair.a->queue.handle().doorbell) {}

  static verbs::PairOf<verbs::DevxQp> make(gpu::Device& gpu, verbs::DevxQpOptions options,
                                           const verbs::MemorySource& queues) {
    options.memory = {queues, queues, queues, gpu::gpu_source(gpu)};
    options.timeout = std::chrono::seconds(3);
    return verbs::pair_of_endpoints<verbs::DevxQp>(
        {.devices = {"mlx5_sim0", "mlx5_sim1"}, .buffer_bytes = kBufferBytes, .payload = gpu::gpu_source(gpu)},
        options);
  }

  /// The job with what does not differ between tests filled in.
  LaneJob job(What what) const {
    LaneJob made{.qp = pair.a->queue.handle(), .what = what, .here = pair.a->local(), .there = pair.b->remote()};
    made.qp.doorbell = doorbell.on_gpu();
    made.result = result.data();
    return made;
  }
  gda::Result run(const LaneJob& what) {
    gpu::run(gpu, lane(), {}, what, {.limit = std::chrono::seconds(20)});
    return result.read().at(0);
  }
  std::uint64_t word(const verbs::Endpoint& end, std::size_t at = 0) const {
    std::uint64_t value = 0;
    end.buffer.read(at, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  void set_word(const verbs::Endpoint& end, std::uint64_t value) const {
    end.buffer.write(0, std::as_bytes(std::span(&value, 1)));
  }

  gpu::Device& gpu;
  verbs::PairOf<verbs::DevxQp> pair;
  gpu::Array<gda::Result> result;
  gpu::Doorbell doorbell;
};

class GpuEngine : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      static_cast<void>(the_gpu());
    } catch (const util::Error& error) {
      GTEST_SKIP() << "waived: " << error.what();
    }
  }
};

}  // namespace marrow::cx7::test
