// SPDX-License-Identifier: Apache-2.0
// What posting one signalled 8-byte inline write costs the posting thread: mini-gda's host lane against libmlx5's
// ibv_post_send, in one run, on the same software device. Bursts are posted into an empty queue and drained untimed.
// Counters: `ns` is the median over bursts of the time per post; `vs_ibv_post_send` is the ratio of the medians.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "cx7/shim/control.h"
#include "marrow/gda/dump.h"
#include "marrow/gda/send_queue.h"
#include "verbs/endpoint.h"

namespace {

using namespace marrow;

constexpr int kBurst = 64;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "post_benchmark: %s\n", what);
  std::exit(1);
}

// One burst: the time from before the first post to after the last.
template <class Post>
double ns_per_post(Post&& post) {
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < kBurst; ++k) post();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / kBurst;
}

double median(std::vector<double>& samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

double ibv_median = 0;

void report(benchmark::State& state, std::vector<double>& samples) {
  const double ns = median(samples);
  if (ibv_median == 0) ibv_median = ns;
  state.counters["ns"] = ns;
  state.counters["vs_ibv_post_send"] = ns / ibv_median;
  state.counters["bursts"] = static_cast<double>(samples.size());
}

void ibv_post_send_inline_write(benchmark::State& state) {
  const auto pair =
      verbs::pair_of_endpoints<verbs::VerbsQp>({.devices = {"mlx5_sim0", "mlx5_sim1"}}, {.send_wqes = 256});
  auto& a = *pair.a;
  ibv_sge sge{.addr = a.local().addr, .length = 8, .lkey = a.local().lkey};
  ibv_send_wr request{.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
  request.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  request.wr.rdma = {.remote_addr = pair.b->remote().addr, .rkey = pair.b->remote().rkey};
  std::vector<double> samples;
  for (auto _ : state) {
    samples.push_back(ns_per_post([&] {
      ibv_send_wr* refused = nullptr;
      if (ibv_post_send(a.queue.get(), &request, &refused) != 0) give_up("ibv_post_send failed");
    }));
    state.SetIterationTime(samples.back() * kBurst / 1e9);
    for (int done = 0; done < kBurst;) {
      ibv_wc completions[16];
      const int n = ibv_poll_cq(a.queue.cq(), 16, completions);
      for (int k = 0; k < n; ++k) {
        if (completions[k].status != IBV_WC_SUCCESS) give_up(ibv_wc_status_str(completions[k].status));
      }
      done += n;
    }
  }
  report(state, samples);
}

template <class Policy>
void mini_gda_inline_write(benchmark::State& state) {
  const auto pair = verbs::pair_of_endpoints({.devices = {"mlx5_sim0", "mlx5_sim1"}}, {.sq_wqebbs = 256});
  auto& a = *pair.a;
  gda::SendQueue<Policy> sq(a.queue.handle());
  const gda::Solo team;
  const gda::Put put{.to = pair.b->remote(), .from = a.local(), .bytes = 8};
  std::vector<double> samples;
  for (auto _ : state) {
    samples.push_back(ns_per_post([&] {
      const auto slots = sq.reserve(team, 1);
      sq.write(slots[0], put);
      auto ticket = sq.submit(team, slots);
      benchmark::DoNotOptimize(ticket.end);
    }));
    state.SetIterationTime(samples.back() * kBurst / 1e9);
    if (!sq.drain(team).ok()) give_up(gda::format_dump(sq.dump()).c_str());
  }
  report(state, samples);
}

BENCHMARK(ibv_post_send_inline_write)->UseManualTime()->Iterations(4000);
BENCHMARK(mini_gda_inline_write<gda::GpuFence>)->UseManualTime()->Iterations(4000);
BENCHMARK(mini_gda_inline_write<gda::GpuFenceDbrec>)->UseManualTime()->Iterations(4000);
BENCHMARK(mini_gda_inline_write<gda::SystemFence>)->UseManualTime()->Iterations(4000);

}  // namespace

int main(int argc, char** argv) {
  if (marrow_cx7_enable() != 0) give_up(marrow_cx7_error());
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
