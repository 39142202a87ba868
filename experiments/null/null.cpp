// SPDX-License-Identifier: Apache-2.0
// The loop, clerk and clock that time every single put, around a put that does nothing. The payload is stamped and
// compared as ever; as nothing is sent, it is compared where it was stamped. No endpoint is opened.
#include "experiments/null/null.h"

#include <fmt/format.h>

#include <array>

#include "experiments/common/host_clerk.h"
#include "experiments/null/null_poster.h"
#include "experiments/null/windows.h"
#ifdef MARROW_HAS_CUDA
#include "experiments/null/null_gpu.h"
#endif

namespace marrow::experiments {
namespace {

constexpr std::size_t kNullBytes = 8;

PutStamps bare_readings(const measure::LaneClock& clock) {
  PutStamps stamps;
  stamps.start = clock.ticks();
  stamps.issued = clock.ticks();
  stamps.completed = clock.ticks();
  return stamps;
}

void run_null(Context& context, const Point&, measure::Record& record) {
  if (context.report_path) {
    measure::ActivePath path{
        .nic = "none, nothing is sent", .link_layer = "none", .doorbell = "none", .registration = "none"};
    path.lane = fmt::format("host: 1 CPU thread on {} cores", usable_cores());
    path.clock = context.clock->name();
    context.report_path(path);
  }
  alignas(64) std::array<std::byte, kNullBytes> bytes{};
  StampedPayload payload(bytes, bytes);
  NullPoster poster;
  (void)put_untimed(context, poster, payload, context.warmup);
  std::vector<NullStamps> stamps(context.iterations);  // touched before the first is taken
  std::size_t done = 0;
  HostClerk clerk(context, payload, [&](NullPoster&, const PutStamps& window) {
    stamps[done++] = {window, bare_readings(*context.clock)};
  });
  stamps.resize(puts(clerk, poster, context.iterations));
  record.counts.operations = stamps.size();
  add_windows(record, measure::Kind::kHostLane, stamps, context.clock->ns_per_tick());
  record.verified = true;
}

}  // namespace

Experiment null_experiment() {
  return {.name = "null",
          .title = "the harness with nothing inside",
          .needs = "nothing; gpu lanes: a GPU of sm_90 or newer",
          .variants = {{"harness", "empty", {}}},
          .iterations = 10'000,
          .run = run_null,
#ifdef MARROW_HAS_CUDA
          .run_on_gpu = null_on_gpu
#endif
  };
}

}  // namespace marrow::experiments
