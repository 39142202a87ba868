// SPDX-License-Identifier: Apache-2.0
// The list. A new experiment is a folder, a line here and an entry in data/suite/paper.json, which has its question.
#include "experiments/catalogue.h"

#include "experiments/batch_under_load/batch_under_load.h"
#include "experiments/completion_breakdown/completion_breakdown.h"
#include "experiments/completion_scope/completion_scope.h"
#include "experiments/connections/connections.h"
#include "experiments/dc_cost/dc_cost.h"
#include "experiments/enclosing_kernel/enclosing_kernel.h"
#include "experiments/enclosing_live_values/enclosing_live_values.h"
#include "experiments/enclosing_residency/enclosing_residency.h"
#include "experiments/gdaki_publication/gdaki_publication.h"
#include "experiments/goodput/goodput.h"
#include "experiments/gpu_rate/gpu_rate.h"
#include "experiments/host_doorbell/host_doorbell.h"
#include "experiments/inline_payload/inline_payload.h"
#include "experiments/latency_payload/latency_payload.h"
#include "experiments/loaded_rtt/loaded_rtt.h"
#include "experiments/null/null.h"
#include "experiments/ordering/ordering.h"
#include "experiments/ordering_litmus/ordering_litmus.h"
#include "experiments/proxy_clock_state/proxy_clock_state.h"
#include "experiments/proxy_enqueue/proxy_enqueue.h"
#include "experiments/proxy_idle_rtt/proxy_idle_rtt.h"
#include "experiments/proxy_rate/proxy_rate.h"
#include "experiments/queue_isolation/queue_isolation.h"
#include "experiments/queue_placement/queue_placement.h"
#include "experiments/single_op/single_op.h"
#include "experiments/sm_clock/sm_clock.h"
#include "experiments/timer_check/timer_check.h"
#include "measure/suite.h"

namespace marrow::experiments {
namespace {

std::vector<Experiment> without_questions() {
  return {
      single_op(),
      ordering(),
      ordering_litmus(),
      inline_payload(),
      completion_breakdown(),
      completion_scope(),
      queue_placement(),
      sm_clock(),
      gpu_rate(),
      host_doorbell(),
      gdaki_publication(),
      dc_cost(),
      proxy_enqueue(),
      proxy_idle_rtt(),
      proxy_clock_state(),
      loaded_rtt(),
      queue_isolation(),
      batch_under_load(),
      proxy_rate(),
      goodput(),
      latency_payload(),
      enclosing_kernel(),
      enclosing_residency(),
      enclosing_live_values(),
      connections_role(),
      connections_reuse_payload(),
      connections_all_to_all(),
      connections_controls(),
      timer_check(),
      null_experiment(),
  };
}

}  // namespace

std::vector<Experiment> catalogue() {
  auto list = without_questions();
  const auto suite = measure::suite_named("paper");
  for (auto& experiment : list) {
    const auto* entry = measure::entry_of(suite, experiment.name);
    if (entry != nullptr) experiment.question = entry->question;
  }
  return list;
}

}  // namespace marrow::experiments
