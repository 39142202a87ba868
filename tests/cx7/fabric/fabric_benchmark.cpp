// SPDX-License-Identifier: Apache-2.0
// What a link costs a packet: the in-process share of the engine's budget of 100 ns a WQE.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "cx7/fabric/fabric.h"

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

}  // namespace
}  // namespace marrow::cx7
