// SPDX-License-Identifier: Apache-2.0
// Workers of this process on one software device, and what they write to on the other.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "proxy/hand_offs.h"
#include "proxy/workers.h"
#include "verbs/endpoint.h"

namespace marrow::proxy::testing {

/// A device with registered memory: the payload first, signal words behind it.
struct End {
  static constexpr std::uint32_t kSignals = 64;

  End(const std::string& device, std::size_t payload_bytes)
      : context(device), pd(context), bytes(payload_bytes), memory(payload_bytes + kSignals * 8), mr(pd, memory) {}

  [[nodiscard]] std::byte* data() const { return memory.data(); }
  [[nodiscard]] std::uint64_t signal(std::uint32_t i) const {
    return std::atomic_ref(reinterpret_cast<std::uint64_t*>(memory.data() + bytes)[i]).load(std::memory_order_acquire);
  }

  verbs::Context context;
  verbs::Pd pd;
  std::size_t bytes;
  verbs::HostBuffer memory;
  verbs::Mr mr;
};

[[nodiscard]] inline Route route_between(const End& from, const End& to, std::uint32_t connection = 0) {
  return {.from = from.mr.local(),
          .from_bytes = from.bytes,
          .to = to.mr.remote(),
          .to_bytes = to.bytes,
          .signals = to.mr.remote() + to.bytes,
          .signal_words = End::kSignals,
          .connection = connection};
}

/// Patience that ends while a test still runs.
[[nodiscard]] inline verbs::Behaviour impatient() {
  verbs::Behaviour behaviour;
  behaviour.ack_timeout = 12;
  behaviour.retry_count = 3;
  return behaviour;
}

/// For machines with as few cores as there are threads.
[[nodiscard]] inline WorkersOptions crowded(std::uint32_t workers, std::uint32_t batch) {
  return {.workers = workers, .batch = batch, .idle = Idle::kYield, .oversubscribe = true};
}

struct TwoEnds {
  TwoEnds(const WorkersOptions& options, std::size_t payload_bytes, std::uint32_t connections = 1)
      : a("mlx5_sim0", payload_bytes),
        b("mlx5_sim1", payload_bytes),
        here({a.context, a.pd, connections, impatient()}, options),
        there({b.context, b.pd, connections, impatient()}, options) {
    connect(here, there);
    for (std::uint32_t c = 0; c < connections; ++c) here.add(route_between(a, b, c));
  }
  End a, b;
  Routes here, there;
};

template <HandOffType H>
struct Rings {
  explicit Rings(std::size_t count, std::uint32_t depth = 64, std::uint64_t timeout_ms = 20'000) {
    for (std::size_t i = 0; i < count; ++i) {
      memories.push_back(std::make_unique<TestRing<H>>(depth, timeout_ms));
      list.push_back({.ring = memories.back()->ring()});
    }
  }
  [[nodiscard]] const Ring& ring(std::size_t i) const { return memories.at(i)->ring(); }

  std::vector<std::unique_ptr<TestRing<H>>> memories;
  std::vector<WorkerRing> list;
};

}  // namespace marrow::proxy::testing
