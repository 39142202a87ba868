// SPDX-License-Identifier: Apache-2.0
// One put, told by the lane that made it: stops 1 to 4 and 9 of docs/one-message.md, with the values that were stored.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "experiments/common/bench.h"
#include "marrow/gda/dump.h"
#include "marrow/gda/send_queue.h"
#include "util/clock.h"
#include "util/error.h"

namespace marrow::experiments {

/// The sentences of a trace; trace_put() collects the values.
[[nodiscard]] std::string tell_put(std::string_view policy, gda::Payload payload, const Route& route);
[[nodiscard]] std::string tell_slot(const gda::Slot& slot, const gda::Qp& qp);
[[nodiscard]] std::string tell_wqe(const gda::Qp& qp, const gda::Slot& slot);
[[nodiscard]] std::string tell_order(const gda::Recipe& recipe, const gda::QueueDump& dump);
[[nodiscard]] std::string tell_result(const gda::Result& result, const gda::QueueDump& dump);

template <gda::PolicyType P>
std::vector<TraceLine> trace_put(const Context& context, std::uint32_t bytes) {
  Bench<verbs::DevxQp> bench(context, {});
  auto payload = bench.payload(bytes);
  const auto qp = bench.a().queue.handle();
  const auto route = bench.put_route(bytes);
  gda::SendQueue<P> sq(qp);
  const gda::Solo team;
  std::vector<TraceLine> lines;
  const auto tell = [&](int stop, std::uint64_t at, std::string what) { lines.push_back({stop, at, std::move(what)}); };
  const auto now = [] { return static_cast<std::uint64_t>(util::now().count()); };

  payload.stamp_next();
  if (context.watch_nic) context.watch_nic(true);
  const auto start = now();
  const auto slots = sq.reserve(team, 1);
  const auto reserved = now();
  sq.write(slots[0], {.to = route.to, .from = route.from, .bytes = bytes});
  const auto written = now();
  const auto ticket = sq.submit(team, slots);
  const auto submitted = now();
  const auto result = sq.wait(team, ticket);
  const auto done = now();
  if (context.watch_nic) context.watch_nic(false);
  const auto dump = sq.dump();
  if (!result.ok()) throw util::Error("the put did not complete: " + gda::format_dump(dump));
  payload.expect_arrived();

  tell(1, start, tell_put(P::name, P::payload, route));
  tell(2, reserved, tell_slot(slots[0], qp));
  tell(3, written, tell_wqe(qp, slots[0]));
  tell(4, submitted, tell_order(gda::recipe_for<P>(), dump));
  tell(9, done, tell_result(result, dump));
  return lines;
}

}  // namespace marrow::experiments
