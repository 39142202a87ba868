// SPDX-License-Identifier: Apache-2.0
// Faults between a link and the engine: every packet that arrives in this process passes here when faults were asked
// for, and may be lost, held back, doubled or damaged. What happens to the n-th packet follows from the seed and n
// alone. Copies are allocated: this is no path for speed.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "cx7/fabric/fault_plan.h"
#include "cx7/fabric/link_counters.h"
#include "cx7/fabric/packet.h"

namespace marrow::cx7 {

struct PacketSink;

class FaultGate {
 public:
  using Time = std::chrono::nanoseconds;

  FaultGate(FaultPlan plan, LinkCounters& counters) : plan_(std::move(plan)), counters_(counters) {}

  /// Hands the packet on, once, twice, later or never.
  void admit(const Packet& packet, Time now, const PacketSink& sink);
  /// Hands on what was held back long enough; returns how many.
  unsigned release(Time now, const PacketSink& sink);

  [[nodiscard]] bool link_is_up(Time now) { return !lasts(FaultKind::kDown, now); }
  /// Time until something is due without a packet's help.
  [[nodiscard]] Time next_due(Time now);

 private:
  struct Held {
    Time due{0};
    std::uint64_t after = 0;  // or when this many packets have come
    std::vector<std::byte> bytes;
    [[nodiscard]] bool is_due(Time now, std::uint64_t passed) const { return now >= due || passed >= after; }
  };

  bool lasts(FaultKind kind, Time now);
  bool meets(const FaultRule& rule, std::size_t index, const Packet& packet) const;
  bool hold(const Packet& packet, Time due, std::uint64_t after);
  bool put_off(std::size_t index, const Packet& packet, Time now);
  bool stalls(std::size_t index, const Packet& packet, Time now);
  bool survives_damage(const Packet& packet, std::size_t rule) const;
  Time since_start(Time now);

  FaultPlan plan_;
  LinkCounters& counters_;
  std::uint64_t packets_ = 0;  // that came, this one included
  std::vector<Held> held_;
  Time stalled_until_{0};  // a slow responder takes no request before
  bool started_ = false;
  Time start_{0};
};

}  // namespace marrow::cx7
