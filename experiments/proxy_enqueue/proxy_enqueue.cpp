// SPDX-License-Identifier: Apache-2.0
// One row for each step from the baseline to the tuned hand-off, each with the baseline beside it in the same run:
// blocks of both alternate, so that a drift of the machine falls on both.
#include "experiments/proxy_enqueue/proxy_enqueue.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/proxy_enqueue/lane.h"
#include "marrow/proxy/hand_off.h"
#include "measure/samples.h"
#include "util/error.h"

namespace marrow::experiments {
namespace enqueue {
namespace {

constexpr double kMicrosecondsPerNs = 1e-3;
// A tuned enqueue is one posted store: the paper's time, and how many of them its baseline takes.
constexpr double kTunedUs = 0.13;
constexpr double kBaselinePerTuned = 17;

struct Collected {
  explicit Collected(std::size_t capacity) : enqueue(capacity), answer(capacity) {}
  measure::Samples enqueue;
  measure::Samples answer;

  double keep(const std::vector<Times>& times) {
    std::vector<double> sorted;
    for (const auto& t : times) {
      enqueue.add(t.enqueue);
      answer.add(t.answer);
      sorted.push_back(t.enqueue);
    }
    std::sort(sorted.begin(), sorted.end());
    return measure::nearest_rank(sorted, 50);
  }
};

void add_counts(measure::Record& record, const proxy::Counts& c) {
  record.counts.operations = c.descriptors;
  record.counts.totals = {{"atomics", c.atomics},       {"credit_reads", c.credit_reads},
                          {"gpu_fences", c.gpu_fences}, {"system_fences", c.system_fences},
                          {"stores", c.stores},         {"release_stores", c.release_stores}};
}

void add_expectations(measure::Record& record, const measure::Summary& enqueue_us, const measure::Summary& ratio) {
  record.expectations.push_back(
      {fmt::format("a tuned enqueue takes no longer than {} us: {:.3f} us", kTunedUs, enqueue_us.p50),
       enqueue_us.p50 <= kTunedUs});
  record.expectations.push_back(
      {fmt::format("the baseline takes at least {} times as long: {:.1f}", kBaselinePerTuned, ratio.p50),
       ratio.p50 >= kBaselinePerTuned});
}

}  // namespace

void measure_enqueue(MakeLane make, Context& context, const Point& point, measure::Record& record) {
  const bool is_baseline = point.policy == proxy::Baseline::name;
  const auto lane = make(context, point.policy);
  const auto baseline = is_baseline ? nullptr : make(context, std::string(proxy::Baseline::name));
  const auto kind = context.gpu != nullptr ? measure::Kind::kGpu : measure::Kind::kHostLane;
  if (context.report_path) context.report_path(lane->path());

  const std::size_t blocks = std::max(1U, context.iterations / kBlock);
  for (std::size_t i = 0; i < context.warmup / kBlock + 1; ++i) {
    (void)lane->hand_over();
    if (baseline) (void)baseline->hand_over();
  }
  Collected mine(blocks * kBlock);
  Collected theirs(blocks * kBlock);
  measure::Samples ratio(blocks);
  for (std::size_t i = 0; i < blocks && !context.stopping(); ++i) {
    const double other = baseline ? theirs.keep(baseline->hand_over()) : 0;
    const double own = mine.keep(lane->hand_over());
    if (baseline && own > 0) ratio.add(other / own);
  }
  add_counts(record, lane->count());
  lane->verify();
  if (baseline) baseline->verify();
  record.verified = true;

  const auto add = [&](const char* name, const char* unit, const measure::Summary& summary) {
    record.metrics.push_back({name, unit, kind, summary, {}});
  };
  const auto enqueue_us = measure::summarise(mine.enqueue.values()).scaled(kMicrosecondsPerNs);
  add("enqueue", "us", enqueue_us);
  add("enqueue and answer, no NIC", "us", measure::summarise(mine.answer.values()).scaled(kMicrosecondsPerNs));
  if (ratio.size() == 0) return;
  const auto ratios = measure::summarise(ratio.values());
  add("baseline's enqueue / this one's", "x", ratios);
  if (kind == measure::Kind::kGpu && point.policy == proxy::Tuned::name) add_expectations(record, enqueue_us, ratios);
}

}  // namespace enqueue

Experiment proxy_enqueue() {
  Experiment experiment{
      .name = "proxy-enqueue",
      .title = "Table 3 and section 4.1, the hand-off to a CPU worker",
      .needs = "nothing: a CPU thread answers, and no NIC takes part; --lane gpu a GPU",
      .run = [](Context& context, const Point& point,
                measure::Record& record) { enqueue::measure_enqueue(enqueue::host_lane, context, point, record); },
      .run_on_gpu = enqueue::on_gpu()};
  proxy::HandOffSteps::for_each([&]<proxy::HandOffType H>() {
    experiment.variants.push_back({"mini-proxy", std::string(H::name), {}});
  });
  return experiment;
}

}  // namespace marrow::experiments
