// SPDX-License-Identifier: Apache-2.0
// Sizes: as much work as the paper's callers have on an H200, 2.1 ms of FMA and 2.6 ms of streaming.
#include "experiments/enclosing_kernel/caller_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "marrow/gda/status.h"

namespace marrow::experiments::enclosing {
namespace {

constexpr std::uint32_t kComputeSteps = 1350;               // a round, with eight live values
constexpr std::uint64_t kStreamedBytes = 10'400'000'000;    // a launch
constexpr std::uint64_t kMostStreamMemory = 1'200'000'000;  // beyond every L2, and read several times
constexpr std::byte kStreamPattern{0x3c};                   // as a float 0.0115

std::uint64_t chunk_bytes(const Shape& shape) {
  return std::uint64_t{shape.blocks} * kThreads * shape.live * sizeof(float);
}

std::uint32_t chunks_of(const Shape& shape) {
  if (shape.caller != "stream") return 1;
  return static_cast<std::uint32_t>(std::bit_floor(std::max<std::uint64_t>(1, kMostStreamMemory / chunk_bytes(shape))));
}

std::uint32_t steps_of(const Shape& shape) {
  if (shape.caller != "stream") return std::max(1U, kComputeSteps * 8 / shape.live);
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, kStreamedBytes / kRounds / chunk_bytes(shape)));
}

/// Small enough that a value stays below one however often it goes through.
std::vector<float> coefficients() {
  std::vector<float> c(std::size_t{kCoefficients} * 4);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = 0.2f / static_cast<float>(i % 7 + 1);
  return c;
}

}  // namespace

CallerBench::CallerBench(Context& context, const Shape& shape)
    : context_(context),
      shape_(shape),
      coefficients_(*context.gpu, std::size_t{kCoefficients} * 4),
      result_(*context.gpu, std::size_t{shape.blocks} * kThreads),
      times_(*context.gpu, shape.blocks),
      failures_(*context.gpu, shape.blocks) {
  coefficients_.write(coefficients());
  job_ = {.coefficients = coefficients_.data(),
          .chunk_mask = chunks_of(shape) - 1,
          .steps = steps_of(shape),
          .result = result_.data(),
          .times = times_.data(),
          .failures = failures_.data()};
  if (shape.caller == "stream") {
    stream_ = gpu::gpu_memory(*context.gpu, chunk_bytes(shape) * chunks_of(shape));
    stream_->fill(kStreamPattern);
    job_.stream = reinterpret_cast<const float*>(stream_->data());
  }
}

double CallerBench::launch(const gpu::Kernel<Job>& kernel, const Job& job, std::size_t shared_bytes) {
  gpu::run(device(), kernel, grid(shared_bytes), job, patience());
  const auto times = times_.read();
  std::uint64_t began = times.front().began;
  std::uint64_t ended = times.front().ended;
  for (const auto& block : times) {
    began = std::min(began, block.began);
    ended = std::max(ended, block.ended);
  }
  return static_cast<double>(ended - began);
}

std::string CallerBench::failure() const {
  const auto statuses = failures_.read();
  for (std::size_t block = 0; block < statuses.size(); ++block) {
    if (statuses[block] == 0) continue;
    return fmt::format("block {}: {}", block, gda::status_name(static_cast<gda::Status>(statuses[block])));
  }
  return {};
}

}  // namespace marrow::experiments::enclosing
