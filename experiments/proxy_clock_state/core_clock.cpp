// SPDX-License-Identifier: Apache-2.0
// See core_clock.h. Facts: a 64-bit multiplication takes three cycles, and a new one can begin in each [obs: x86-64 and
// AArch64 cores of the last ten years].
#include "experiments/proxy_clock_state/core_clock.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "util/clock.h"

namespace marrow::experiments {
namespace {

constexpr int kMultiplications = 1'000'000;
constexpr double kCyclesEach = 3;

std::uint64_t chain(std::uint64_t value) {
  for (int i = 0; i < kMultiplications; ++i) {
    value *= 0x9e3779b97f4a7c15;
#if defined(__GNUC__)
    asm volatile("" : "+r"(value));  // one after the other, and each of them
#endif
  }
  return value;
}

}  // namespace

void rest_cores(const Context& context, std::chrono::milliseconds time) {
  const auto until = util::now() + time;
  while (!context.stopping() && util::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

void load_cores(const Context& context, std::chrono::milliseconds time) {
  const auto until = util::now() + time;
  std::atomic<std::uint64_t> sink{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < usable_cores(); ++i) {
    threads.emplace_back([&context, &sink, until, i] {
      std::uint64_t value = i + 1;
      while (!context.stopping() && util::now() < until) value = chain(value);
      sink.fetch_xor(value, std::memory_order_relaxed);
    });
  }
  for (auto& thread : threads) thread.join();
}

double core_mhz(const Context& context) {
  double best = 0;  // a chain that was interrupted took too long
  for (int i = 0; i < 3; ++i) {
    const auto start = context.clock->ticks();
    const auto value = chain(static_cast<std::uint64_t>(i) + 1);
    const auto ns = context.clock->ns(context.clock->ticks() - start + (value == 0 ? 1 : 0));
    best = std::max(best, kMultiplications * kCyclesEach / ns * 1e3);
  }
  return best;
}

}  // namespace marrow::experiments
