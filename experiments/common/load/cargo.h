// SPDX-License-Identifier: Apache-2.0
// The messages of a lane that sends many: where they come from, where they go, and what is in them. Message m of a lane
// lies m places behind the first at both ends; its bytes are stamp.h's for its number. Host and GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "experiments/common/stamp.h"
#include "marrow/gda/handles.h"
#include "marrow/gda/team.h"
#include "marrow/proxy/memory.h"

namespace marrow::experiments {

/// A word that the NIC writes and this lane looks at. Relaxed on a GPU: the word itself is all that is used.
[[nodiscard]] MARROW_HD inline std::uint64_t arrived_word(const std::byte* at) {
  return proxy::load_freed(reinterpret_cast<const std::uint64_t*>(at));
}

/// Places of `bytes` each, a multiple of 8.
struct Cargo {
  std::byte* source = nullptr;     // as the lane writes it
  const std::byte* far = nullptr;  // as the lane reads it
  gda::Local from;                 // the same two as a NIC is told of them
  gda::Remote to;
  std::uint64_t from_at = 0;  // and as a proxy's worker is: offsets in the route's windows
  std::uint64_t to_at = 0;
  std::uint32_t bytes = 8;
  std::uint32_t lane = 0;  // part of what is stamped

  /// Word `word` of message number `i`: differs between lanes, messages and words.
  [[nodiscard]] MARROW_HD std::uint64_t stamp(std::uint64_t i, std::uint32_t word) const {
    return stamp_word(i, std::uint64_t{lane} << 17U | word);
  }
  MARROW_HD void write(std::uint32_t place, std::uint64_t i) const {
    auto* words = reinterpret_cast<std::uint64_t*>(source + std::size_t{place} * bytes);
    for (std::uint32_t w = 0; w < bytes / 8; ++w) words[w] = stamp(i, w);
  }
  /// Bits in which place and message differ: 0 where all bytes are there.
  [[nodiscard]] MARROW_HD std::uint64_t difference(std::uint32_t place, std::uint64_t i) const {
    const auto* at = far + std::size_t{place} * bytes;
    std::uint64_t bits = 0;
    for (std::uint32_t w = 0; w < bytes / 8; ++w) bits |= arrived_word(at + w * 8) ^ stamp(i, w);
    return bits;
  }
};

/// How a lane's sending ended. `wrong` says that message `at` was not what it should have been; otherwise `status` has
/// what its wait or its hand-over said.
struct SendFailure {
  gda::Status status = gda::Status::kOk;
  bool wrong = false;
  std::uint64_t at = 0;

  [[nodiscard]] MARROW_HD bool ok() const { return status == gda::Status::kOk && !wrong; }
};

/// Waits until a place holds its message: an acknowledged put may still be on its way to memory.
[[nodiscard]] MARROW_HD inline bool await_message(const Cargo& cargo, std::uint32_t place, std::uint64_t i) {
  constexpr std::uint64_t kLimitNs = 1'000'000'000;
  gda::SpinLimit limit(kLimitNs);
  while (cargo.difference(place, i) != 0) {
    if (limit.expired()) return false;
  }
  return true;
}

}  // namespace marrow::experiments
