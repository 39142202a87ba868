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

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? -1 : static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

BusyWatch::BusyWatch(const Context& context, const proxy::WorkerCounters& workers)
    : context_(context),
      workers_(workers),
      steps_(engine_count(context, "steps")),
      steps_with_work_(engine_count(context, "steps_with_work")) {}

Busy BusyWatch::until(const proxy::WorkerCounters& now) const {
  const auto visits = now.visits - workers_.visits;
  const auto empty = now.empty_visits - workers_.empty_visits;
  Busy busy;
  busy.workers = share(now.busy_ticks - workers_.busy_ticks, now.ticks - workers_.ticks);
  busy.stalls = share(now.credit_stalls - workers_.credit_stalls, visits - empty);
  const auto posts = now.posts - workers_.posts;
  if (posts > 0) busy.workers_per_post = static_cast<double>(now.wrs - workers_.wrs) / static_cast<double>(posts);
  busy.engine =
      share(engine_count(context_, "steps_with_work") - steps_with_work_, engine_count(context_, "steps") - steps_);
  return busy;
}

Limit limit_of(const Busy& busy) {
  if (busy.workers < 0) return busy.engine > kMostlyBusy ? Limit::kNic : Limit::kLanes;
  if (busy.stalls >= kMostlyStalled) return Limit::kNic;
  return busy.workers >= kMostlyBusy ? Limit::kWorkers : Limit::kLanes;
}

void tell_limit(const Context& context, const std::string& what, const Busy& busy, measure::Record& record) {
  const bool software = context.nic_kind == measure::Kind::kCx7Sim;
  std::string numbers;
  if (busy.workers >= 0) {
    numbers += fmt::format("workers busy {:.0f} % of their time, {:.1f} requests a post, ", busy.workers * 100,
                           busy.workers_per_post);
    if (busy.stalls >= 0) numbers += fmt::format("no room in the queue pair {:.0f} % of the time, ", busy.stalls * 100);
  }
  if (busy.engine >= 0)
    numbers += fmt::format("software NIC's engine at work in {:.0f} % of its steps, ", busy.engine * 100);
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

}  // namespace marrow::experiments
