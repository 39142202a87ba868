// SPDX-License-Identifier: Apache-2.0
// What communication code costs the useful work around it: launches of kernels that differ in nothing else, one after
// the other in one run, and the ratio of each pair. With CUDA only.
#pragma once

#include "experiments/enclosing_kernel/traffic.h"

namespace marrow::experiments::enclosing {

enum class Arm : std::uint8_t {
  kDormant,      // the code is there, and its branch is never taken
  kSend,         // each message is submitted, and its warp goes on
  kSendAndWait,  // its warp first waits for the completion
};
[[nodiscard]] Arm arm_named(const std::string& name);  // "dormant", "send", "send+wait"

struct Comparison {
  Shape shape;
  std::string path;  // "none": the residency control, which takes `shared_bytes` a block
  std::string packaging;
  Arm arm = Arm::kDormant;
  std::uint32_t messages = 0;  // a block, spread through its work
  std::size_t shared_bytes = 0;
};

/// The kernel of that shape; `path` "none" is the one without communication code. \throws util::Error.
[[nodiscard]] const CallerKernel& find_kernel(const Shape& shape, const std::string& path,
                                              const std::string& packaging);

/// Fills the record: registers, local memory, residency, kernel times, loss of useful throughput, waiting loss.
void measure_loss(Context& context, const Comparison& comparison, measure::Record& record);

}  // namespace marrow::experiments::enclosing
