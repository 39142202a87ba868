// SPDX-License-Identifier: Apache-2.0
// What host and GPU lanes of proxy-enqueue have in common: a ring, its worker, and what must have arrived.
#pragma once

#include <fmt/format.h>

#include <memory>

#include "experiments/proxy_enqueue/checker.h"
#include "experiments/proxy_enqueue/lane.h"
#include "util/error.h"
#include "verbs/memory.h"

namespace marrow::experiments::enqueue {

/// \tparam H  the hand-off. `producers` is a zeroed word pair in the lane's memory.
template <proxy::HandOffType H>
class Rig {
 public:
  Rig(Context& context, std::unique_ptr<verbs::Memory> memory, proxy::ProducerState* producers)
      : memory_(std::move(memory)),
        ring_(proxy::lay_out_ring<H>(memory_->data(), kDepth, producers)),
        checker_(ring_, is_crowded(context, 2)) {}

  [[nodiscard]] static std::size_t bytes() { return proxy::ring_bytes<H>(kDepth); }
  [[nodiscard]] const proxy::Ring& ring() const { return ring_; }

  /// The number of the next block's first descriptor, which is then used up.
  [[nodiscard]] std::uint64_t next_block() {
    const auto first = sent_;
    sent_ += kBlock;
    return first;
  }

  void require(const Outcome& outcome) const {
    if (outcome.failure == gda::Status::kOk && outcome.done == kBlock) return;
    throw util::Error(
        fmt::format("descriptor {}: {}", sent_ - kBlock + outcome.done, gda::status_name(outcome.failure)));
  }
  void verify() const {
    if (checker_.taken() != sent_ || checker_.wrong() != 0) {
      throw util::Error(fmt::format("of {} descriptors the worker took {}, and {} were not what was handed over", sent_,
                                    checker_.taken(), checker_.wrong()));
    }
  }
  [[nodiscard]] measure::ActivePath path() const {
    measure::ActivePath path;
    path.nic = "none: a CPU thread takes the descriptors and answers at once";
    path.link_layer = "none";
    path.doorbell = "none: the descriptor is the announcement";
    path.registration = fmt::format("one ring of {} descriptors, {}", kDepth, memory_->kind());
    return path;
  }

 private:
  std::unique_ptr<verbs::Memory> memory_;
  proxy::Ring ring_;
  std::uint64_t sent_ = 0;
  Checker<H> checker_;
};

}  // namespace marrow::experiments::enqueue
