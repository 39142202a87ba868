// SPDX-License-Identifier: Apache-2.0
// Rows: publications.h. With one queue one lane posts, so that what is timed is the price of being ready to share; on
// host lanes the counts are the result. With sixteen queues `threads` lanes share each, and the rate is measured: GPU
// lanes alone, gdaki_publication_gpu.cpp.
#include "experiments/gdaki_publication/gdaki_publication.h"

#include <algorithm>
#include <optional>

#include "experiments/common/bench.h"
#include "experiments/common/counts.h"
#include "experiments/common/gda_puts.h"
#include "experiments/common/host_rung.h"
#include "experiments/gdaki_publication/publications.h"
#include "marrow/gda/shared_queue.h"
#include "util/error.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/gdaki_publication/gdaki_publication_gpu.h"
#endif

namespace marrow::experiments {
namespace {

constexpr const char* kNeedsRecords =
    "a strict software NIC waits for the record, which this policy never writes; try MARROW_SIM_STRICT=0";

/// A fresh queue, and the thread that rings where the policy wants one.
template <gda::PolicyType P>
struct FreshQueue {
  explicit FreshQueue(const Context& context) : bench(context, {}), qp(bench.a().queue.handle()) {
    if constexpr (P::doorbell != gda::DoorbellSequence::kForwarded) {
      report_path(context, bench, /*lanes=*/1);
    } else {
      report_host_rung_path(context, bench, /*lanes=*/1);
      rung.emplace(context, std::vector{qp}, verbs::MemorySource{});
      qp = rung->forwarded(qp);
    }
  }

  Bench<verbs::DevxQp> bench;
  gda::Qp qp;
  std::optional<HostRung> rung;
};

/// On a queue that nobody used before: a lane that finds a used one looks once where it stands.
template <gda::PolicyType P>
void count_publication(const Context& context, measure::Record& record) {
  constexpr std::uint64_t kCounted = 1000;
  FreshQueue<P> on(context);
  auto payload = on.bench.payload(kSmallBytes);
  GdaPoster<P, gda::CountingProbe> poster(on.qp, on.bench.put_route(kSmallBytes));
  const auto done = put_untimed(context, poster, payload, std::min<std::uint64_t>(kCounted, context.iterations));
  if (done == 0) return;
  record.counts = counts_of(poster.probe().counts, done);
  expect_counts(record, poster.probe().counts, counts_times(counts_of_publication(P::name), done));
}

template <gda::PolicyType P>
void measure_publication(const Context& context, measure::Record& record) {
  if (P::doorbell == gda::DoorbellSequence::kNoRecord && has_strict_nic(context)) throw util::Error(kNeedsRecords);
  {
    FreshQueue<P> on(context);
    GdaPoster<P> poster(on.qp, on.bench.put_route(kSmallBytes));
    measure_puts(context, poster, on.bench.payload(kSmallBytes), record);
    if (on.rung) on.rung->finish(record);
  }
  count_publication<P>(context, record);
}

void run_gdaki_publication(Context& context, const Point& point, measure::Record& record) {
  if (point.number("queues") != 1) {
    throw util::Error("lanes that publish side by side are a GPU's", util::ErrorKind::kWaived, "--lane gpu");
  }
  const bool known =
      Publications::visit(point.policy, [&]<gda::PolicyType P>() { measure_publication<P>(context, record); });
  if (!known) throw util::Error("no publication is called '" + point.policy + "'");
  record.verified = true;
}

}  // namespace

Experiment gdaki_publication() {
  Experiment experiment{
      .name = "gdaki-publication",
      .title = "Section 4.3.1, publishing on a shared queue",
      .needs =
          "two endpoints: cx7-sim, or one or two mlx5 devices; a NIC that takes doorbells without a record for "
          "atomic-max and gdaki-reliable; gpu lanes: a GPU of sm_90 or newer",
      .lenient_nic = true,  // else the software NIC waits for records that two rows never write
      .run = run_gdaki_publication,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = gdaki_publication_on_gpu,
#endif
  };
  const auto add = [&](std::string_view policy, std::int64_t queues, std::int64_t threads, const char* in_step) {
    experiment.variants.push_back({"mini-gda",
                                   std::string(policy),
                                   {{"queues", queues}, {"threads", threads}, {"in_step", std::string(in_step)}}});
  };
  Publications::for_each([&]<gda::PolicyType P>() { add(P::name, 1, 1, "no"); });
  RatedPublications::for_each([&]<gda::PolicyType P>() {
    for (const std::int64_t threads : {1, 8, 32, 64}) add(P::name, kRatedQueues, threads, "no");
    add(P::name, kRatedQueues, 32, "yes");
  });
  return experiment;
}

}  // namespace marrow::experiments
