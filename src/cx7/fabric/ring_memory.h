// SPDX-License-Identifier: Apache-2.0
// Where a ring lies: private pages for traffic inside the process, or a memfd that the producer makes and the consumer
// maps. The memfd has no name and is sealed in size, so no file is ever left behind and no access can fault.
#pragma once

#include <cstddef>
#include <optional>

#include "cx7/fabric/packet_ring.h"
#include "util/fd.h"

namespace marrow::cx7 {

inline constexpr std::uint32_t kLocalRingBytes = 256u << 10;  // stays in the second-level cache
inline constexpr std::uint32_t kPeerRingBytes = 1u << 20;
inline constexpr std::size_t kRingDataOffset = 4096;  // of the data behind the control words

/// Owns the mapping.
class RingMemory {
 public:
  /// Throws util::Error when there is no memory.
  static RingMemory make_private(std::uint32_t ring_bytes);
  /// A ring of kPeerRingBytes in a fresh memfd, which `fd` gets. Empty, and logged, when the system refuses.
  static std::optional<RingMemory> make_shared(util::UniqueFd& fd);
  /// A ring that a peer made. Empty unless `fd` is a memfd of the right size, sealed.
  static std::optional<RingMemory> map_shared(int fd);

  RingMemory(RingMemory&& other) noexcept;
  RingMemory& operator=(RingMemory&& other) = delete;
  ~RingMemory();

  [[nodiscard]] RingView view() const;

 private:
  RingMemory(void* base, std::uint32_t ring_bytes) : base_(base), ring_bytes_(ring_bytes) {}

  void* base_;
  std::uint32_t ring_bytes_;
};

}  // namespace marrow::cx7
