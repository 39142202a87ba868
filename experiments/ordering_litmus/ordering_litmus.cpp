// SPDX-License-Identifier: Apache-2.0
// Rows: recipe x placement of queues and payload, alone or in a crowd x place of the doorbell x payload x batch. The
// engine is the run's
// (--engine): with `auto` queues in host memory are the CPU engine's and those in GPU memory the CUDA engine's. Here
// the run on host lanes. What is counted, and how to read it: docs/ordering-litmus.md.
#include "experiments/ordering_litmus/ordering_litmus.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "experiments/common/bench.h"
#include "experiments/common/host_rung.h"
#include "experiments/ordering_litmus/litmus.h"
#include "experiments/ordering_litmus/litmus_loop.h"
#include "util/error.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/ordering_litmus/ordering_litmus_gpu.h"
#endif

namespace marrow::experiments {
namespace {

constexpr std::uint64_t kHostLaneShare = 10;  // a host lane shares cores with the NIC's thread, and does a tenth

class HostLitmusClerk {
 public:
  explicit HostLitmusClerk(const Context& context) : context_(context) {}
  [[nodiscard]] bool stopping(std::uint64_t) const { return context_.stopping(); }
  [[nodiscard]] std::uint64_t ticks() const { return context_.clock->ticks(); }
  [[nodiscard]] static std::uint64_t poll(const std::uint64_t* at) {
    return poll_word(reinterpret_cast<const std::byte*>(at));
  }

 private:
  const Context& context_;
};

LitmusPass on_host(const Context& context, const LitmusRow& row, std::string_view ordering, LitmusJob job) {
  std::vector<std::uint64_t> issue(job.awaits ? job.puts / job.batch : 0);
  if (job.awaits) job.issue = issue.data();
  HostLitmusClerk clerk(context);
  LitmusPass pass;
  const bool known = gda::OrderingPolicies::visit(ordering, [&]<gda::PolicyType P>() {
    if (row.pointer) return litmus_puts<Unguarded<gda::Pointer<P>>>(clerk, job, pass.report);
    if (row.by_word) return litmus_puts<Unguarded<gda::Forwarded<P>>>(clerk, job, pass.report);
    litmus_puts<Unguarded<P>>(clerk, job, pass.report);
  });
  if (!known) throw util::Error("no ordering is called '" + std::string(ordering) + "'");
  if (job.awaits) issue.resize(pass.report.puts / job.batch);
  for (const auto ticks : issue) pass.issue_ns.push_back(context.clock->ns(ticks));
  return pass;
}

void run_ordering_litmus(Context& context, const Point& point, measure::Record& record) {
  const auto row = litmus_row(point);
  if (!row.queues_on_host) {
    throw util::Error("a host lane cannot post to queues in GPU memory", util::ErrorKind::kWaived, "--lane gpu");
  }
  if (row.crowded) {
    throw util::Error("what a GPU stores beside a lane is no matter of a host lane", util::ErrorKind::kWaived,
                      "--lane gpu");
  }
  auto memory = memory_of_host_lanes(context);
  memory.payload_bytes = litmus_payload_bytes(row);
  const Bench<verbs::DevxQp> bench(context, {}, memory);
  std::optional<HostRung> rung;
  if (row.by_word) {
    report_host_rung_path(context, bench, /*lanes=*/1);
    rung.emplace(context, std::vector{bench.a().queue.handle()}, verbs::MemorySource{});
  } else {
    report_path(context, bench, /*lanes=*/1);
  }
  const auto qp = bench.a().queue.handle();
  measure_litmus(
      context, row,
      {.bench = bench,
       .qp = rung ? rung->forwarded(qp) : qp,
       .lane = [&](std::string_view ordering, const LitmusJob& job) { return on_host(context, row, ordering, job); },
       .issue_kind = measure::Kind::kHostLane,
       .puts = std::max<std::uint64_t>(context.iterations / kHostLaneShare, 1)},
      record);
  if (rung) rung->finish(record);
}

/// Where the queues lie, and what else the GPU stores to host memory meanwhile.
struct Surroundings {
  const char* queues;
  const char* beside;
};
constexpr Surroundings kSurroundings[] = {{"host", "nothing"}, {"host", "stores"}, {"gpu", "nothing"}};

/// How a put's bytes travel, and who rings: the lane in the NIC's register, or a host thread that reads a word.
struct Way {
  const char* payload;
  const char* doorbell;
};
constexpr Way kWays[] = {{"inline", "register"}, {"pointer", "register"}, {"inline", "word"}};

/// The bytes of a put follow from its payload: what a register holds, or so many words that they can be torn.
Variant variant(std::string_view policy, const Surroundings& where, const Way& way, std::int64_t batch) {
  const bool is_inline = std::string_view(way.payload) == "inline";
  return {"mini-gda",
          std::string(policy),
          {{"queues", std::string(where.queues)},
           {"doorbell", std::string(way.doorbell)},
           {"beside", std::string(where.beside)},
           {"payload", std::string(way.payload)},
           {"bytes", std::int64_t{is_inline ? 8 : 64}},
           {"batch", batch}}};
}

}  // namespace

Experiment ordering_litmus() {
  Experiment experiment{
      .name = "ordering-litmus",
      .title = "ordering before the doorbell, counted",
      .needs = "two endpoints, for stale WQEs the software NIC; gpu lanes: a GPU of sm_90 or newer",
      .iterations = 80'000,
      .lenient_nic = true,
      .run = run_ordering_litmus,
#ifdef MARROW_HAS_CUDA
      .run_on_gpu = ordering_litmus_on_gpu,
#endif
  };
  for (const auto& where : kSurroundings) {
    for (const auto& way : kWays) {
      for (const std::int64_t batch : {1, 16}) {
        gda::OrderingPolicies::for_each(
            [&]<gda::PolicyType P>() { experiment.variants.push_back(variant(P::name, where, way, batch)); });
      }
    }
  }
  return experiment;
}

}  // namespace marrow::experiments
