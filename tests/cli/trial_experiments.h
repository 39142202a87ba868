// SPDX-License-Identifier: Apache-2.0
// Experiments without any NIC, one for each way in which a row can end.
#pragma once

#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "experiments/experiment.h"
#include "gpu/clock_keeper.h"
#include "util/error.h"

namespace marrow::experiments {

using measure::Record;

/// Measures `iterations` readings of the clock, 1 ms apart when asked to be slow.
inline void take(Context& context, Record& record, bool slow) {
  std::vector<double> values;
  for (std::uint32_t i = 0; i < context.iterations && !context.stopping(); ++i) {
    const auto from = context.clock->ticks();
    if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    values.push_back(context.clock->ns(context.clock->ticks() - from));
  }
  record.metrics.push_back({"issue", "us", measure::Kind::kHostLane, measure::summarise(values).scaled(1e-3)});
  record.counts = {.operations = values.size(), .totals = {{"wqes", values.size()}}};
  record.verified = true;
}

inline std::vector<Experiment> trial_experiments() {
  const std::vector<Variant> one{{"trial", "only", {}}};
  std::vector<Experiment> list;
  const auto add = [&](std::string name, std::vector<Variant> variants, auto run) {
    list.push_back({.name = name,
                    .title = "trial",
                    .question = "What happens?",
                    .needs = "nothing",
                    .variants = std::move(variants),
                    .iterations = 20,
                    .run = run});
  };
  add("passes",
      {{"trial", "fast", {{"payload", std::string("inline")}}},
       {"trial", "safe", {{"payload", std::string("inline")}}},
       {"trial", "safe", {{"payload", std::string("pointer")}}}},
      [](Context& c, const Point&, Record& r) {
        c.report_path({"here -> there", "InfiniBand", "a page", "none", "host", c.clock->name()});
        take(c, r, false);
      });
  list.back().sweeps.push_back({.name = "bytes", .meaning = "payload", .values = {8}, .min = 8, .max = 64, .step = 4});
  add("fails", one, [](Context&, const Point&, Record&) { throw util::Error("payload 3 differs"); });
  add("is-unverified", one, [](Context& c, const Point&, Record& r) {
    take(c, r, false);
    r.verified = false;
  });
  add("measures-nothing", one, [](Context&, const Point&, Record& r) { r.verified = true; });
  add("measures-nan", one, [](Context& c, const Point&, Record& r) {
    take(c, r, false);
    r.metrics[0].summary.p99 = 0.0 / static_cast<double>(r.axes.size());
  });
  add("expects-too-much", one, [](Context& c, const Point&, Record& r) {
    take(c, r, false);
    r.expectations.push_back({"the impossible", false});
  });
  add("is-waived", one,
      [](Context&, const Point&, Record&) { throw util::Error("no second node here", util::ErrorKind::kWaived); });
  add("crashes", {{"trial", "first", {}}, {"trial", "crash", {}}, {"trial", "third", {}}},
      [](Context& c, const Point& p, Record& r) {
        if (p.policy == "crash") std::raise(SIGKILL);
        take(c, r, false);
      });
  add("exits", one, [](Context&, const Point&, Record&) { std::_Exit(3); });
  add("is-slow", one, [](Context& c, const Point&, Record& r) { take(c, r, true); });
  add("locks", {{"trial", "gives-back", {}}, {"trial", "crashes", {}}, {"trial", "hangs", {}}},
      [](Context& c, const Point& p, Record& r) {
        if (c.clock_keeper == nullptr) throw util::Error("it was not told to lock", util::ErrorKind::kWaived);
        const gpu::Nvml gpu("ffff:19:00.0");  // no real GPU is there
        gpu::ClockLock lock(*c.clock_keeper, gpu);
        lock.set(1500);
        if (p.policy == "crashes") std::raise(SIGKILL);
        while (p.policy == "hangs") ::pause();
        take(c, r, false);
      });
  list.back().locks_clocks = true;
  add("hangs", one, [](Context&, const Point&, Record&) {
    for (;;) ::pause();
  });
  return list;
}

}  // namespace marrow::experiments
