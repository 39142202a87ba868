// SPDX-License-Identifier: Apache-2.0
// Rows: transport and destination. Single puts; the same by an RC queue before them, for the difference; and bursts,
// for what a change of destination does to a rate. GPU lanes: dc_cost_gpu.cpp.
#include "experiments/dc_cost/dc_cost.h"

#include <algorithm>

#include "experiments/common/gda_puts.h"
#include "experiments/dc_cost/dc_cost_policies.h"
#include "experiments/dc_cost/dc_ends.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/dc_cost/dc_cost_gpu.h"
#endif

namespace marrow::experiments {
namespace {

using measure::Kind;
using measure::Record;

/// \param poster  a temporary: what it knows of the queue goes back to the queue before the next poster comes.
template <Poster P>
PutTimes times_of(const Context& context, P&& poster, StampedPayload payload, std::size_t operations) {
  (void)put_untimed(context, poster, payload, std::min<std::uint64_t>(context.warmup, operations));
  PutTimes times(operations);
  put_timed(context, poster, payload, times);
  return times;
}

std::size_t bursts_of(const Context& context) {
  return std::max(context.iterations / 8, 10U);
}

void run_rc(const Context& context, Record& record) {
  Bench<verbs::DevxQp> bench(context, {.sq_wqebbs = kDcSqWqebbs});
  report_path(context, bench, /*lanes=*/1);
  measure_gda_puts<RcPut>(context, bench, kDcBytes, record);
  using Burst = BurstPoster<RcPut, kDcBurst>;
  const auto times = times_of(context, Burst(bench.a().queue.handle(), bench.put_route(kDcBytes)),
                              bench.payload(kDcBytes), bursts_of(context));
  add_rate(record, context.nic_kind, kDcBurst, times.completion);
}

/// What a DC row measures with.
struct DcParts {
  explicit DcParts(const Context& context, bool is_compact)
      : bench(context, {.sq_wqebbs = kDcSqWqebbs}),
        ends(bench, {.memory = memory_of_host_lanes(context).queues}, is_compact) {}
  [[nodiscard]] Aims aims(bool new_destination) const {
    return {ends.avs().data(), new_destination ? kDcTargets - 1 : 0};
  }

  Bench<verbs::DevxQp> bench;
  DcEnds ends;
};

template <gda::PolicyType P>
void count_dc(const Context& context, DcParts& parts, const DcRow& row, Record& record) {
  constexpr std::uint64_t kCounted = 1000;
  auto payload = parts.bench.payload(kDcBytes);
  GdaPoster<P, gda::CountingProbe> poster(parts.ends.dci().handle(), parts.bench.put_route(kDcBytes),
                                          parts.aims(row.new_destination));
  const ConnectionCount connections(context);
  const auto done = put_untimed(context, poster, payload, std::min<std::uint64_t>(kCounted, context.iterations));
  if (done == 0) return;
  record.counts = counts_of(poster.probe().counts, done);
  expect_counts(record, poster.probe().counts, promised_counts(gda::recipe_for<P>(), kDcSegments<P>, done));
  connections.add(row, done, record);
}

template <gda::PolicyType P>
void measure_bursts(const Context& context, DcParts& parts, const DcRow& row, Record& record) {
  using Burst = BurstPoster<P, kDcBurst>;
  const auto route = parts.bench.put_route(kDcBytes);
  const auto bursts = [&](bool new_destination) {
    return times_of(context, Burst(parts.ends.dci().handle(), route, parts.aims(new_destination)),
                    parts.bench.payload(kDcBytes), bursts_of(context))
        .completion;
  };
  const auto same = bursts(false);
  if (!row.new_destination) return add_rate(record, context.nic_kind, kDcBurst, same);
  const auto changing = bursts(true);
  add_rate(record, context.nic_kind, kDcBurst, changing);
  add_ratio(context, same, changing, record);
}

template <gda::PolicyType P>
void run_dc(const Context& context, const DcRow& row, Record& record) {
  DcParts parts(context, row.transport == DcRow::Transport::kCompact);
  report_path(context, parts.bench, /*lanes=*/1);
  const auto route = parts.bench.put_route(kDcBytes);
  const auto rc = times_of(context, GdaPoster<RcPut>(parts.bench.a().queue.handle(), route),
                           parts.bench.payload(kDcBytes), context.iterations);
  const auto dc = times_of(context, GdaPoster<P>(parts.ends.dci().handle(), route, parts.aims(row.new_destination)),
                           parts.bench.payload(kDcBytes), context.iterations);
  record.counts.operations = dc.issue.size();
  add_time(record, "issue", Kind::kHostLane, dc.issue);
  add_time(record, "put+completion", context.nic_kind, dc.completion);
  add_extra(context, rc.completion, dc.completion, record);
  measure_bursts<P>(context, parts, row, record);
  count_dc<P>(context, parts, row, record);
}

void run_dc_cost(Context& context, const Point& point, Record& record) {
  const auto row = dc_row(point);
  if (row.transport == DcRow::Transport::kRc) run_rc(context, record);
  if (row.transport == DcRow::Transport::kCompact) run_dc<CompactPut>(context, row, record);
  if (row.transport == DcRow::Transport::kFull) run_dc<FullPut>(context, row, record);
  record.verified = true;
}

}  // namespace

Experiment dc_cost() {
  const auto row = [](const char* transport, const char* destination) {
    return Variant{"mini-gda",
                   std::string(RcPut::name),
                   {{"transport", std::string(transport)},
                    {"destination", std::string(destination)},
                    {"bytes", std::int64_t{kDcBytes}}}};
  };
  return {
      .name = "dc-cost",
      .title = "Section 4.3.3, dynamically connected queues",
      .needs =
          "two endpoints with the DC transport: cx7-sim, or one or two mlx5 devices; InfiniBand for addresses of 16 "
          "bytes; gpu lanes: a GPU of sm_90 or newer",
      .variants = {row("rc", "same"), row("dc-compact", "same"), row("dc-full", "same"), row("dc-compact", "new"),
                   row("dc-full", "new")},
      .run = run_dc_cost,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = dc_cost_on_gpu,
#endif
  };
}

}  // namespace marrow::experiments
