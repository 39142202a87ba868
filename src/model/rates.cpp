// SPDX-License-Identifier: Apache-2.0
// One run of the model: as long as its caches and queues take to settle, and as long again.
#include <algorithm>

#include "model/engine.h"

namespace marrow::model {
namespace {

/// Turns until every connection was served `kRounds` times, every warp made more than one long visit, and small traffic
/// is long enough to be smooth.
std::uint64_t turns_of(const Profile& profile, const Traffic& traffic) {
  constexpr std::uint64_t kRounds = 2;
  constexpr std::uint64_t kLeast = 2000;  // a sender
  const std::uint64_t turns_per_visit = traffic.writes_per_visit / writes_per_turn(profile, traffic);
  const auto visits = 2 * std::uint64_t{traffic.senders()} * traffic.warps * turns_per_visit;
  return std::max({kRounds * traffic.all_connections(), visits, kLeast * traffic.senders()});
}

}  // namespace

Rates steady_rates(const Profile& profile, const Traffic& traffic) {
  Engine engine(profile, traffic);
  const auto turns = turns_of(profile, traffic);
  engine.run(turns);
  std::vector<Counts> before;
  for (std::uint32_t i = 0; i < traffic.endpoints; ++i) before.push_back(engine.counts(i));
  const double from_ns = engine.now_ns();
  engine.run(turns);
  const double ns = engine.now_ns() - from_ns;
  Rates rates{.simulated_us = ns * 1e-3};
  std::uint64_t send_misses = 0;
  std::uint64_t receive_misses = 0;
  for (std::uint32_t i = 0; i < traffic.endpoints; ++i) {
    const auto& now = engine.counts(i);
    const auto sent = now.sent - before[i].sent;
    const auto received = now.received - before[i].received;
    if (now.sent > 0) rates.sent_m_per_s.push_back(static_cast<double>(sent) * 1e3 / ns);
    if (now.received > 0) rates.received_m_per_s.push_back(static_cast<double>(received) * 1e3 / ns);
    rates.messages += received;
    send_misses += now.send_misses - before[i].send_misses;
    receive_misses += now.receive_misses - before[i].receive_misses;
  }
  rates.send_misses = static_cast<double>(send_misses) / static_cast<double>(rates.messages);
  rates.receive_misses = static_cast<double>(receive_misses) / static_cast<double>(rates.messages);
  return rates;
}

}  // namespace marrow::model
