// SPDX-License-Identifier: Apache-2.0
// See limit.h. A real NIC does not tell how busy it is, but workers that find no room in their queue pairs do.
#include "experiments/common/load/limit.h"

#include <fmt/format.h>

namespace marrow::experiments {
namespace {

constexpr double kMostlyStalled = 0.5;  // of a worker's looks that found something
constexpr double kMostlyBusy = 0.5;

std::uint64_t engine_count(const Context& context, std::string_view name) {
  return context.nic_count ? context.nic_count(name) : 0;
}

}  // namespace

BusyWatch::BusyWatch(const Context& context, const proxy::WorkerCounters& workers)
    : context_(context),
      workers_(workers),
      steps_(engine_count(context, "steps")),
      steps_with_work_(engine_count(context, "steps_with_work")) {}

Busy BusyWatch::until(const proxy::WorkerCounters& now) const {
  const auto visits = now.visits - workers_.visits;
  Busy busy{.worker_ticks = now.ticks - workers_.ticks,
            .busy_ticks = now.busy_ticks - workers_.busy_ticks,
            .looks = visits - (now.empty_visits - workers_.empty_visits),
            .stalls = now.credit_stalls - workers_.credit_stalls,
            .posts = now.posts - workers_.posts,
            .requests = now.wrs - workers_.wrs};
  // Steps are read first at the begin and last at the end, so that those with work are never more.
  busy.steps_with_work = engine_count(context_, "steps_with_work") - steps_with_work_;
  busy.steps = engine_count(context_, "steps") - steps_;
  return busy;
}

Busy& Busy::operator+=(const Busy& more) {
  worker_ticks += more.worker_ticks;
  busy_ticks += more.busy_ticks;
  looks += more.looks;
  stalls += more.stalls;
  posts += more.posts;
  requests += more.requests;
  steps += more.steps;
  steps_with_work += more.steps_with_work;
  return *this;
}

Limit limit_of(const Busy& busy) {
  if (busy.worker_ticks == 0) return busy.engine() > kMostlyBusy ? Limit::kNic : Limit::kLanes;
  if (busy.stalled() >= kMostlyStalled) return Limit::kNic;
  return busy.workers() >= kMostlyBusy ? Limit::kWorkers : Limit::kLanes;
}

void tell_limit(const Context& context, const std::string& what, const Busy& busy, measure::Record& record) {
  const bool software = context.nic_kind == measure::Kind::kCx7Sim;
  std::string numbers;
  if (busy.workers() >= 0) numbers += fmt::format("workers busy {:.0f} % of their time, ", busy.workers() * 100);
  if (busy.posts > 0) numbers += fmt::format("{:.1f} requests a post, ", busy.requests_a_post());
  if (busy.looks > 0) numbers += fmt::format("no room for {:.0f} % of what was found, ", busy.stalled() * 100);
  if (busy.steps > 0) {
    numbers += fmt::format("software NIC's engine at work in {:.0f} % of its steps, ", busy.engine() * 100);
  }
  if (!numbers.empty()) numbers.resize(numbers.size() - 2);
  const auto limit = limit_of(busy);
  if (limit == Limit::kNic) {
    record.warnings.push_back(fmt::format("{}: the {} the limit, not the transport: {}", what,
                                          software ? "software NIC's engine is" : "NIC or its link is", numbers));
    return;
  }
  record.expectations.push_back(
      {fmt::format("{}: the {} are the limit{}{}", what, limit == Limit::kWorkers ? "workers" : "lanes",
                   numbers.empty() ? "" : ": ", numbers),
       true});
}

void expect_of_transport(const Busy& busy, const std::string& text, bool held, measure::Record& record) {
  const auto own = busy.worker_ticks == 0 ? Limit::kLanes : Limit::kWorkers;
  if (held || limit_of(busy) == own) {
    record.expectations.push_back({text, held});
  } else {
    record.warnings.push_back("asked for, and not reached where others are the limit: " + text);
  }
}

}  // namespace marrow::experiments
