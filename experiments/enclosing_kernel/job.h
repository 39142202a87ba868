// SPDX-License-Identifier: Apache-2.0
// What every caller kernel of the enclosing experiments is given: useful work, when to send, and both transports, so
// that kernels with and without communication code are launched alike. Plain data, passed by value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/launch.h"
#include "marrow/gda/handles.h"
#include "marrow/proxy/ring.h"

namespace marrow::experiments::enclosing {

inline constexpr std::uint32_t kThreads = 256;      // of a block
inline constexpr std::uint32_t kRounds = 16;        // of useful work; a block may send once before each
inline constexpr std::uint32_t kCoefficients = 64;  // sets of four
inline constexpr std::uint32_t kCellBytes = 8;      // where a block's messages arrive

/// When a block began and ended its work, in nanoseconds of globaltimer.
struct BlockTimes {
  std::uint64_t began = 0;
  std::uint64_t ended = 0;
};

struct Job {
  // useful work
  const float* coefficients = nullptr;  // kCoefficients * 4
  const float* stream = nullptr;        // what the streaming caller reads: a power of two of chunks
  std::uint32_t chunk_mask = 0;         // chunks - 1; a chunk has `live` floats for every thread of the grid
  std::uint32_t steps = 0;              // a round
  float* result = nullptr;              // one for each thread
  BlockTimes* times = nullptr;          // one for each block
  // communication: bit r sends before round r; 0 is dormant
  std::uint32_t sending_rounds = 0;
  std::uint32_t wait = 0;
  std::uint32_t first_message = 0;    // message number of round 0
  std::uint32_t ring_mask = 0;        // rings - 1
  std::uint32_t* failures = nullptr;  // one for each block: a gda::Status
  const gda::Qp* qps = nullptr;       // one for each block
  gda::Remote to;                     // kCellBytes for each block
  const proxy::Ring* rings = nullptr;
};

/// Which kernel, and how its communication code was built in.
struct CallerKernel {
  std::string caller;      // "compute", "stream"
  std::uint32_t live = 0;  // values that a thread keeps across a send
  std::string path;        // "none", "mini-gda", "mini-proxy"
  std::string packaging;   // "inlined", "separate", "bounded"; of "none": ""
  gpu::Kernel<Job> kernel;
};

/// The kernels of each .cu file.
[[nodiscard]] std::vector<CallerKernel> compute_kernels();
[[nodiscard]] std::vector<CallerKernel> stream_kernels();
[[nodiscard]] std::vector<CallerKernel> live_value_kernels();

/// Lets a kernel ask for that much dynamic shared memory a block, which is how residency is held down on purpose.
void allow_shared_bytes(const gpu::Kernel<Job>& kernel, std::size_t bytes);

}  // namespace marrow::experiments::enclosing
