// SPDX-License-Identifier: Apache-2.0
// GPU memory of another process: a handle for an allocation of ours, and the mapping of one of theirs, made once for
// each allocation and kept as long as a key needs it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "cx7/hca/far_news.h"

namespace marrow::cx7::cuda {

/// How another process comes to [at, at + bytes). Any device may be current.
[[nodiscard]] SharedRange share_memory(const std::byte* at, std::uint64_t bytes);

/// The engine's GPU is current at every call.
class PeerMemory {
 public:
  using Handle = decltype(SharedRange::handle);

  /// The address here of a range of another process. Throws util::Error.
  [[nodiscard]] std::byte* open(const SharedRange& range, std::uint64_t bytes);
  /// One open() of this allocation less. After the last no GPU thread may touch it.
  void close(const Handle& handle);

 private:
  struct Mapping {
    std::byte* base = nullptr;
    std::uint64_t bytes = 0;
    std::uint32_t users = 0;
  };
  Mapping& map(const Handle& handle);

  std::map<Handle, Mapping> mappings_;
};

}  // namespace marrow::cx7::cuda
