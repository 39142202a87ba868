// SPDX-License-Identifier: Apache-2.0
// A payload that differs in every operation and is compared, byte by byte, at the far side. Outside all timed windows.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "experiments/common/stamp.h"

namespace marrow::experiments {

/// The near side's source and the far side's destination of a put, both as this process sees them.
///
/// Operation `i` has the bytes stamp_byte(i, 0), stamp_byte(i, 1), ... of stamp.h.
class StampedPayload {
 public:
  /// \param first  number of the first operation.
  StampedPayload(std::span<std::byte> near, std::span<std::byte> far, std::uint64_t first = 0)
      : near_(near), far_(far), next_(first) {}

  /// Fills the source for the next operation. \returns its first 8 bytes.
  std::uint64_t stamp_next() noexcept;

  /// Waits until the far side holds the operation stamped last: an acknowledged put may still be on its way to memory.
  /// \throws util::Error naming operation and byte when it does not within `limit`.
  void expect_arrived(std::chrono::nanoseconds limit = std::chrono::seconds(1)) const;

  [[nodiscard]] std::size_t bytes() const noexcept { return near_.size(); }

 private:
  [[nodiscard]] bool arrived() const noexcept;

  std::span<std::byte> near_;
  std::span<std::byte> far_;
  std::uint64_t next_ = 0;
};

}  // namespace marrow::experiments
