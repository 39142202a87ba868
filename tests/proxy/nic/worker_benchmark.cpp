// SPDX-License-Identifier: Apache-2.0
// What one descriptor costs the worker that takes it, until it is posted, at B requests a post. Bursts of 64 lie in the
// ring before the clock starts. worker_alone: the post costs nothing, so this is the worker's own code. with_libmlx5:
// posts are libmlx5's, into an empty queue pair of the software NIC, which is drained while no clock runs.
// Counters: `ns` is the median over bursts of the time per descriptor; `vs_batch_1` is the ratio to B = 1 of the same
// run.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "cx7/shim/control.h"
#include "proxy/nic/two_ends.h"
#include "proxy/quiet_nic.h"

namespace marrow::proxy::testing {
namespace {

constexpr std::uint64_t kBurst = 64;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "worker_benchmark: %s\n", what);
  std::exit(1);
}

/// Of the same benchmark with B = 1.
std::map<std::string, double>& medians() {
  static std::map<std::string, double> of;
  return of;
}

template <HandOffType H>
class Burst {
 public:
  Burst(const RouteTable& routes, const WorkersOptions& options)
      : rings_(1, 2 * kBurst),
        worker_({.options = options, .routes = routes, .number = 0, .rings = rings_.list}),
        lane_(rings_.ring(0)) {}

  /// Nanoseconds a descriptor.
  double run() {
    for (std::uint64_t i = 0; i < kBurst; ++i) end_ = lane_.put({.from = 8 * i, .to = 8 * i, .bytes = 8}).end;
    const auto start = std::chrono::steady_clock::now();
    while (worker_.taken(0) < end_) worker_.round();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    while (Progress::from_word(*rings_.ring(0).done).completed < end_) {
      worker_.round();
      if (Progress::from_word(*rings_.ring(0).done).failure != gda::Status::kOk) give_up("a write failed");
    }
    return spent.count() / kBurst;
  }

 private:
  Rings<H> rings_;
  Worker<H> worker_;
  Producer<H> lane_;
  std::uint64_t end_ = 0;
};

template <HandOffType H>
void measure(benchmark::State& state, const RouteTable& routes, const WorkersOptions& options,
             const std::string& name) {
  Burst<H> burst(routes, options);
  std::vector<double> samples;
  for (auto _ : state) {
    samples.push_back(burst.run());
    state.SetIterationTime(samples.back() * kBurst / 1e9);
  }
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (options.batch == 1) medians()[name] = *middle;
  state.counters["ns"] = *middle;
  state.counters["vs_batch_1"] = *middle / medians()[name];
  state.counters["bursts"] = static_cast<double>(samples.size());
}

WorkersOptions options_of(const benchmark::State& state) {
  return {.batch = static_cast<std::uint32_t>(state.range(0)), .take_per_visit = 64};
}

template <HandOffType H>
void worker_alone(benchmark::State& state) {
  const QuietNic nic;
  measure<H>(state, nic.table, options_of(state), "alone " + std::string(H::name));
}

template <HandOffType H>
void with_libmlx5(benchmark::State& state) {
  const auto options = options_of(state);
  TwoEnds ends(options, 4096);
  measure<H>(state, ends.here.table(), options, "libmlx5 " + std::string(H::name));
}

BENCHMARK(worker_alone<Tuned>)->Arg(1)->Arg(16)->UseManualTime()->Iterations(20000);
BENCHMARK(worker_alone<Baseline>)->Arg(1)->Arg(16)->UseManualTime()->Iterations(20000);
BENCHMARK(with_libmlx5<Tuned>)->Arg(1)->Arg(4)->Arg(16)->UseManualTime()->Iterations(4000);

}  // namespace
}  // namespace marrow::proxy::testing

int main(int argc, char** argv) {
  if (marrow_cx7_enable() != 0) marrow::proxy::testing::give_up(marrow_cx7_error());
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
