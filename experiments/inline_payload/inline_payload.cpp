// SPDX-License-Identifier: Apache-2.0
// Inline against pointer over the payload's size: single puts (issue, put+completion), and the rate of batches with one
// doorbell for 16 WQEs on one queue. Facts: a WQE holds 220 inline bytes in four WQEBBs, 28 in one [dv].
#include "experiments/inline_payload/inline_payload.h"

#include "experiments/common/bench.h"
#include "experiments/common/gda_puts.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

using measure::Record;

constexpr std::uint32_t kBatch = 16;          // WQEs a doorbell
constexpr std::uint32_t kBurst = 4 * kBatch;  // WQEs a rate sample
constexpr std::uint32_t kMostInline = 220;
constexpr std::uint32_t kSqWqebbs = 512;  // room for a burst of the longest WQEs
static_assert(kSqWqebbs >= kBurst * gda::inline_write_wqebbs(kMostInline));

struct InlinePut : gda::GpuFence {
  static constexpr std::uint32_t max_inline_bytes = kMostInline;
};
struct PointerPut : gda::GpuFence {
  static constexpr gda::Payload payload = gda::Payload::kPointer;
};
struct InlineBatch : InlinePut {
  static constexpr gda::Batching batching{kBatch};
};
struct PointerBatch : PointerPut {
  static constexpr gda::Batching batching{kBatch};
};

/// Posts kBurst puts of one payload, kBatch a doorbell, and waits for the last: one sample of the rate.
template <gda::PolicyType P>
class Burst {
 public:
  Burst(const gda::Qp& qp, const Route& route)
      : sq_(qp), put_{.to = route.to, .from = route.from, .bytes = route.bytes}, room_{.wqes = kBurst, .wqebbs = 1} {
    if constexpr (P::payload == gda::Payload::kInline) room_.wqebbs = gda::inline_write_wqebbs(route.bytes);
  }

  gda::Result run() {
    const auto slots = sq_.reserve(kTeam, room_);
    for (std::uint32_t i = 0; i < kBurst; ++i) sq_.write(slots[i], put_);
    return sq_.wait(kTeam, sq_.submit(kTeam, slots));
  }
  [[nodiscard]] std::string dump() const { return gda::format_dump(sq_.dump()); }

 private:
  static constexpr gda::Solo kTeam{};
  gda::SendQueue<P> sq_;
  gda::Put put_;
  gda::Room room_;
};

template <gda::PolicyType P>
void measure_rate(const Context& context, Bench<verbs::DevxQp>& bench, std::uint32_t bytes, Record& record) {
  const std::uint32_t bursts = std::max(context.iterations / 8, 10U);
  const std::uint32_t warmup = context.warmup / kBurst;
  const auto& clock = *context.clock;
  auto payload = bench.payload(bytes);
  measure::Samples rate(bursts);
  Burst<P> burst(bench.a().queue.handle(), bench.put_route(bytes));
  for (std::uint32_t i = 0; i < warmup + bursts && !context.stopping(); ++i) {
    payload.stamp_next();
    const auto start = clock.ticks();
    const auto result = burst.run();
    const auto end = clock.ticks();
    if (!result.ok())
      throw util::Error("a burst did not complete: " + gda::format_result(result) + "\n" + burst.dump());
    payload.expect_arrived();
    constexpr double kMessagesPerUs = 1e3;  // per ns, in millions a second
    if (i >= warmup) rate.add(kBurst / clock.ns(end - start) * kMessagesPerUs);
  }
  if (rate.size() > 0) {
    record.metrics.push_back({"message rate", "M msg/s", context.nic_kind, measure::summarise(rate.values()), {}});
  }
}

void run(Context& context, const Point& point, Record& record) {
  const auto bytes = static_cast<std::uint32_t>(point.number("bytes"));
  Bench<verbs::DevxQp> bench(context, {.sq_wqebbs = kSqWqebbs});
  report_path(context, bench, /*lanes=*/1);
  if (point.text("payload") == "inline") {
    measure_gda_puts<InlinePut>(context, bench, bytes, record);
    measure_rate<InlineBatch>(context, bench, bytes, record);
  } else {
    measure_gda_puts<PointerPut>(context, bench, bytes, record);
    measure_rate<PointerBatch>(context, bench, bytes, record);
  }
  record.verified = true;
}

}  // namespace

Experiment inline_payload() {
  const auto row = [](const char* payload) {
    return Variant{"mini-gda", std::string(gda::GpuFence::name), {{"payload", std::string(payload)}}};
  };
  return {
      .name = "inline-payload",
      .title = "Figure 3, payload in the WQE or by pointer",
      .question = "When does carrying the payload inside the WQE beat a pointer to it, in latency and batched rate?",
      .needs = "two endpoints: cx7-sim, or one or two mlx5 devices",
      .variants = {row("inline"), row("pointer")},
      .sweeps = {{.name = "bytes",
                  .meaning = "payload of one put",
                  .values = {8, 28, 60, 92, 156, 220},
                  .min = 4,
                  .max = kMostInline,
                  .step = 4}},
      .run = run};
}

}  // namespace marrow::experiments
