// SPDX-License-Identifier: Apache-2.0
// Cost of one WQE in the engine, stepped on one core with no thread: fetch, packet, remote write, ACK, CQE.
#include <benchmark/benchmark.h>

#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

struct InlineWrite {
  wire::CtrlSegment ctrl;
  wire::RemoteSegment remote;
  wire::InlineHeader header;
  std::byte payload[12];
};

// 8-byte inline writes already in the ring, one in 16 signalled; only the engine's steps are timed.
void engine_step_inline_write(benchmark::State& state) {
  TwoSides nic;
  nic.a.scq->overrun_ignore = true;
  constexpr int kBatch = 48;
  for (auto _ : state) {
    for (int k = 0; k < kBatch; ++k) {
      const auto completion = k % 16 == 15 ? wire::Completion::kAlways : wire::Completion::kOnError;
      nic.a.put(InlineWrite{wire::ctrl_segment(nic.a.next(completion), wire::Opcode::kWrite, 3),
                            wire::remote_segment(nic.b.remote()),
                            wire::inline_header(8),
                            {}});
    }
    nic.a.announce();
    const auto start = std::chrono::steady_clock::now();
    nic.run();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(spent.count() / kBatch);
    if (nic.a.qp->requester.done != nic.a.pi) state.SkipWithError("the engine left WQEs behind");
  }
  state.SetLabel("time is per WQE");
}
BENCHMARK(engine_step_inline_write)->UseManualTime();

}  // namespace
}  // namespace marrow::cx7::test
