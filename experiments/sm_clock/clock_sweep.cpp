// SPDX-License-Identifier: Apache-2.0
// See clock_sweep.h.
#include "experiments/sm_clock/clock_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>

#include "experiments/common/bench.h"
#include "measure/clock_fit.h"
#include "util/clock.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

using measure::Kind;

constexpr double kLowestShare = 502.0 / 1845.0;  // the paper's lowest clock of its highest
constexpr double kAllowed = 0.02;                // that a locked clock may be beside the one asked for

/// A GPU takes its time to follow.
double settled_mhz(unsigned asked, const ClockBench& bench) {
  constexpr std::chrono::seconds kLimit{2};
  const auto until = util::now() + kLimit;
  for (;;) {
    const auto mhz = bench.measured_mhz();
    if (std::abs(mhz - asked) <= kAllowed * asked) return mhz;
    if (util::now() < until) continue;
    throw util::Error(
        fmt::format("the SM clock was locked to {} MHz and runs at {:.0f} MHz after {} s", asked, mhz, kLimit.count()),
        util::ErrorKind::kFailed, "a GPU that nothing slows: look at its power cap and temperature");
  }
}

std::vector<unsigned> order_of_pass(std::span<const unsigned> clocks, unsigned pass) {
  std::vector<unsigned> order(clocks.begin(), clocks.end());
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(pass * 2 % order.size()), order.end());
  if (pass % 2 == 1) std::reverse(order.begin(), order.end());
  return order;
}

using Times = measure::Samples PutTimes::*;

std::vector<double> at_clock(const std::vector<ClockCell>& cells, unsigned mhz, Times times) {
  std::vector<double> all;
  for (const auto& cell : cells) {
    if (cell.asked_mhz != mhz) continue;
    const auto values = (cell.times.*times).values();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

struct Fits {
  std::vector<double> cycles, us, percent;
};

Fits fits_of(const std::vector<ClockCell>& cells, Times times) {
  constexpr double kMicrosecondsPerNs = 1e-3;
  std::map<unsigned, std::vector<measure::ClockPoint>> passes;
  for (const auto& cell : cells) {
    const auto median = measure::summarise((cell.times.*times).values()).p50 * kMicrosecondsPerNs;
    passes[cell.pass].push_back({cell.mhz, median});
  }
  Fits fits;
  for (const auto& [pass, points] : passes) {
    const auto fit = measure::fit_clock(points);
    fits.cycles.push_back(fit.cycles);
    fits.us.push_back(fit.us);
    fits.percent.push_back(fit.r2 * 100);
  }
  return fits;
}

void add_times(measure::Record& record, const std::string& name, Kind kind, const std::vector<ClockCell>& cells,
               Times times) {
  std::vector<unsigned> clocks;
  for (const auto& cell : cells) clocks.push_back(cell.asked_mhz);
  std::sort(clocks.begin(), clocks.end(), std::greater<>());
  clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
  for (const auto mhz : clocks)
    add_time(record, fmt::format("{} at {} MHz", name, mhz).c_str(), kind, at_clock(cells, mhz, times));
}

void add_fit(measure::Record& record, const std::string& name, Kind kind, const Fits& fits) {
  record.metrics.push_back({name + ": C", "cycles", kind, measure::summarise(fits.cycles), {}});
  record.metrics.push_back({name + ": B", "us", kind, measure::summarise(fits.us), {}});
  record.metrics.push_back({name + ": R2", "%", kind, measure::summarise(fits.percent), {}});
}

}  // namespace

std::vector<unsigned> clocks_of_sweep(std::span<const unsigned> there, unsigned count) {
  if (there.empty() || count < 2) throw util::Error("a sweep needs clocks that the GPU can be locked to");
  const double fastest = 1.0 / there.front();
  const double slowest = fastest / kLowestShare;
  std::vector<unsigned> clocks;
  for (unsigned i = 0; i < count; ++i) {
    const double wanted = 1.0 / (fastest + (slowest - fastest) * i / (count - 1));
    const auto nearest = *std::min_element(there.begin(), there.end(), [&](unsigned a, unsigned b) {
      return std::abs(a - wanted) < std::abs(b - wanted);
    });
    if (clocks.empty() || clocks.back() != nearest) clocks.push_back(nearest);
  }
  return clocks;
}

std::vector<ClockCell> sweep_clocks(std::span<const unsigned> clocks, unsigned passes, const ClockBench& bench) {
  std::vector<ClockCell> cells;
  for (unsigned pass = 0; pass < passes; ++pass) {
    for (const auto asked : order_of_pass(clocks, pass)) {
      bench.lock(asked);
      const auto mhz = settled_mhz(asked, bench);
      cells.push_back({pass, asked, mhz, bench.puts()});
      (void)settled_mhz(asked, bench);  // what slowed it meanwhile is no clock of the sweep
    }
  }
  return cells;
}

void add_sweep(measure::Record& record, Kind nic, const std::vector<ClockCell>& cells) {
  add_times(record, "issue", Kind::kGpu, cells, &PutTimes::issue);
  add_times(record, "put+completion", nic, cells, &PutTimes::completion);
  add_fit(record, "issue", Kind::kGpu, fits_of(cells, &PutTimes::issue));
  add_fit(record, "put+completion", nic, fits_of(cells, &PutTimes::completion));
  for (const auto& cell : cells) record.counts.operations += cell.times.issue.size();
}

}  // namespace marrow::experiments
