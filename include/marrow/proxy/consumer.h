// SPDX-License-Identifier: Apache-2.0
// The worker's side of a ring, host only: takes descriptors in order, gives slots back, reports completions. When a
// slot is given back is the worker's choice: once it was read, once it was handled, or once its operation is complete.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "marrow/proxy/descriptor.h"
#include "marrow/proxy/ring.h"

namespace marrow::proxy {

/// One thread. Never blocks.
template <HandOffType H>
class Consumer {
  static_assert(CheckHandOff<H>::ok);
  static constexpr std::uint32_t kWords = H::desc_bytes / sizeof(std::uint64_t);

 public:
  /// \param first  index of the next descriptor: that of the ring's head.
  explicit Consumer(const Ring& ring, std::uint64_t first = 0) : ring_(ring), taken_(first) {}

  /// The next request; none while it has not arrived whole.
  [[nodiscard]] std::optional<Request> take() {
    if (H::mark == Mark::kReadyWord && !is_ready()) return std::nullopt;
    const auto low = word(0).load(std::memory_order_acquire);
    if (!is_marked(0, low)) return std::nullopt;
    const auto high = word(1).load(std::memory_order_acquire);
    if (!is_marked(1, high)) return std::nullopt;
    for (std::uint32_t i = 2; i < kWords; ++i) {
      if (!is_marked(i, word(i).load(std::memory_order_acquire))) return std::nullopt;
    }
    if constexpr (H::mark == Mark::kFlag) clear(kWords);
    if constexpr (H::mark == Mark::kNonZeroWord) clear(1);
    ++taken_;
    return decode({{low, high}});
  }
  [[nodiscard]] std::uint64_t taken() const { return taken_; }

  /// Producers may overwrite the slots of all requests before the `index`-th.
  void free_up_to(std::uint64_t index) { std::atomic_ref(*ring_.freed).store(index, std::memory_order_release); }

  /// The first `completed` operations are complete; waiting lanes see it.
  void complete_up_to(std::uint64_t completed) { report({completed, gda::Status::kOk}); }
  /// The operation behind the first `completed` failed, and none after it will complete.
  void fail_behind(std::uint64_t completed, gda::Status failure) { report({completed, failure}); }

 private:
  [[nodiscard]] std::atomic_ref<std::uint64_t> word(std::uint32_t i) const {
    const auto at = std::size_t{taken_ & ring_.mask()} * H::desc_bytes;
    return std::atomic_ref(reinterpret_cast<std::uint64_t*>(ring_.slots + at)[i]);
  }
  [[nodiscard]] bool is_ready() const {
    const auto value = std::atomic_ref(ring_.ready[taken_ & ring_.mask()]).load(std::memory_order_acquire);
    return value == ready_of(taken_);
  }
  [[nodiscard]] bool is_marked(std::uint32_t i, std::uint64_t word) const {
    if constexpr (H::mark == Mark::kReadyWord) return true;
    if constexpr (H::mark == Mark::kPhase) return (word & 1) == phase_of(taken_, ring_.depth);
    if constexpr (H::mark == Mark::kFlag) return (word & 1) != 0;
    return i > 0 || word != 0;
  }
  /// Before the slot is given back, so that no old mark meets the next lap.
  void clear(std::uint32_t words) {
    for (std::uint32_t i = 0; i < words; ++i) word(i).store(0, std::memory_order_relaxed);
  }
  void report(Progress progress) { std::atomic_ref(*ring_.done).store(progress.word(), std::memory_order_release); }

  Ring ring_;
  std::uint64_t taken_;
};

}  // namespace marrow::proxy
