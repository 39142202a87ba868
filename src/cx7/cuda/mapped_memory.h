// SPDX-License-Identifier: Apache-2.0
// Where an address of the application lies, and how the engine's GPU reaches it: its own memory, another GPU's across
// NVLink or PCIe, or host memory that is registered here once and for as long as somebody needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace marrow::cx7::cuda {

enum class Home : std::uint8_t { kGpu, kHost };

struct Place {
  Home home = Home::kHost;
  int gpu = -1;             // kGpu: whose
  std::byte* at = nullptr;  // kHost: the GPU's address, null when the range is not registered with CUDA
};

/// Facts of CUDA alone; any device may be current.
[[nodiscard]] Place place_of(const void* at);

/// Host ranges that this engine registered. Not thread-safe: the engine's lock is held.
class HostRegistrations {
 public:
  /// The GPU's address of [at, at + bytes), registered if need be; null when CUDA refuses.
  [[nodiscard]] std::byte* map(const void* at, std::uint64_t bytes);
  /// One map() of this range less.
  void unmap(const void* at, std::uint64_t bytes);

 private:
  struct Range {
    std::uintptr_t end = 0;
    std::uint32_t users = 0;
  };
  std::map<std::uintptr_t, Range> ranges_;  // by first page
};

}  // namespace marrow::cx7::cuda
