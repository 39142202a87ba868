// SPDX-License-Identifier: Apache-2.0
// What a link costs a packet: the in-process share of the engine's budget of 100 ns a WQE.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "cx7/fabric/fabric.h"
#include "cx7/fabric/hosts.h"

namespace marrow::cx7 {
namespace {

std::string domain() {
  return "benchmark" + std::to_string(::getpid());
}

/// Bursts of 16 packets from `from` to `to`, both stepped by this thread.
void move_packets(benchmark::State& state, Fabric& from, Fabric& to) {
  const auto payload_bytes = static_cast<std::uint32_t>(state.range(0));
  std::uint64_t seen = 0;
  for (auto unused : state) {
    for (int i = 0; i < 16; ++i) {
      const Reservation room = from.reserve(to.slot(), payload_bytes);
      room.packet->payload_bytes = payload_bytes;
      std::memset(room.packet->payload(), i, payload_bytes);
      from.commit(to.slot());
    }
    from.deliver(16, {}, [&](const Packet& packet) { seen += packet.payload_bytes; });
    if (&from != &to) to.deliver(16, {}, [&](const Packet& packet) { seen += packet.payload_bytes; });
  }
  benchmark::DoNotOptimize(seen);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * 16);
}

void in_process(benchmark::State& state) {
  Fabric fabric(domain());
  move_packets(state, fabric, fabric);
}
BENCHMARK(in_process)->Arg(8)->Arg(4096);

void between_slots(benchmark::State& state) {
  Fabric a(domain());
  Fabric b(domain());
  (void)a.reserve(b.slot(), 0);
  b.maintain();
  move_packets(state, a, b);
}
BENCHMARK(between_slots)->Arg(8)->Arg(4096);

/// Bursts of 32 packets over UDP on the loopback interface, both ends stepped by this thread: its time is that of both
/// sides.
void between_hosts(benchmark::State& state) {
  constexpr std::uint32_t kNear = 127u << 24 | 1;
  constexpr std::uint32_t kFar = 127u << 24 | 2;
  constexpr unsigned kBurst = 32;
  const LinkOptions near_options{.addresses = {kNear}};
  const LinkOptions far_options{.addresses = {kFar}};
  Fabric near(domain(), near_options);
  Fabric far(domain() + "_far", far_options);
  const auto payload_bytes = static_cast<std::uint32_t>(state.range(0));
  const unsigned route = Fabric::kOtherHosts + number_of_host(kFar).value();
  std::uint64_t seen = 0;
  for (auto unused : state) {
    for (unsigned i = 0; i < kBurst; ++i) {
      const Reservation room = near.reserve(route, payload_bytes);
      if (room.state != Reservation::State::kRoom) return state.SkipWithError("the link takes no packet");
      *room.packet = {
          .payload_bytes = payload_bytes, .dest_qpn = far.slot() << 16 | 64, .opcode = PacketOpcode::kWriteOnly};
      std::memset(room.packet->payload(), static_cast<int>(i), payload_bytes);
      near.commit(route);
    }
    unsigned arrived = 0;
    for (int tries = 0; arrived < kBurst && tries < 1000; ++tries) {
      near.deliver(kBurst, {}, [](const Packet&) {});
      arrived += far.deliver(kBurst, {}, [&](const Packet& packet) { seen += packet.payload_bytes; });
    }
    if (arrived < kBurst) return state.SkipWithError("packets were lost");
  }
  benchmark::DoNotOptimize(seen);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kBurst);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * kBurst * payload_bytes);
}
BENCHMARK(between_hosts)->Arg(8)->Arg(4096);

}  // namespace
}  // namespace marrow::cx7
