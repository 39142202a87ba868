// SPDX-License-Identifier: Apache-2.0
// What one process tells another of its keys and queue pairs, so that GPU threads there can check and reach GPU memory
// here: the owner's own words, for its rules hold. Carried by neighbours.h, kept by a GpuEngine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace marrow::cx7 {

/// How another process's GPU threads come to a range.
struct SharedRange {
  enum class How : std::uint8_t {
    kHostMemory,    // not at all: only the owner's CPU engine reaches it
    kNotShareable,  // GPU memory that CUDA makes no handle for
    kHandle,
  };
  How how = How::kHostMemory;
  std::array<std::byte, 64> handle{};  // of the whole allocation
  std::uint64_t offset = 0;            // of the range in it
};

struct FarKey {
  std::uint8_t device = 0;
  std::uint32_t key = 0;
  std::uint32_t pdn = 0;
  std::uint32_t access = 0;
  std::uint64_t iova = 0;
  std::uint64_t bytes = 0;
  SharedRange where;
};

struct FarKeyName {
  std::uint8_t device = 0;
  std::uint32_t key = 0;
};

/// A queue pair that leads to the process that is told of it.
struct FarQp {
  std::uint8_t device = 0;
  std::uint32_t qpn = 0;
  std::uint32_t remote_qpn = 0;
  std::uint32_t pdn = 0;
  std::uint32_t access = 0;
  std::uint8_t remote_device = 0;
  bool receives = false;  // false: nothing may go to it any more
  bool operator==(const FarQp&) const = default;
};

/// What has changed in the process that holds `slot`, in this order.
struct FarNews {
  unsigned slot = 0;
  bool process_gone = false;  // and with it everything; then nothing else is set
  std::vector<FarKeyName> keys_gone;
  std::vector<FarKey> keys;  // new
  std::vector<FarQp> qps;
};

}  // namespace marrow::cx7
